import { Alert, Button, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { inWords } from '../components/in-words.ts';
import type { Credentials } from './session.ts';
import { texts } from './texts.ts';
import { useSession } from './use-session.ts';

type Way = 'password' | 'key';

/** Sign-in with e-mail and password, or with an API key. */
export function SignInForm(): ReactElement {
  const session = useSession();
  const [way, setWay] = useState<Way>('password');
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);

  const submit = async (event: { preventDefault(): void }): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    const given: Credentials =
      way === 'password' ? { email: name, password: secret } : { api_key_id: name, api_key_secret: secret };
    await session.signIn(given).catch((error: unknown) => setFailure(inWords(error)));
    setBusy(false);
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <SegmentedControl
          fullWidth
          aria-label={texts.signInWith}
          value={way}
          onChange={(value) => setWay(value)}
          data={[
            { value: 'password', label: texts.emailAndPassword },
            { value: 'key', label: texts.apiKey },
          ]}
        />
        <TextInput
          ref={first}
          label={way === 'password' ? texts.email : texts.keyId}
          autoComplete="username"
          type={way === 'password' ? 'email' : 'text'}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <PasswordInput
          label={way === 'password' ? texts.password : texts.keySecret}
          autoComplete="current-password"
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          required
        />
        {failure === null ? null : (
          <Alert color="red" role="alert">
            {failure}
          </Alert>
        )}
        <Button type="submit" loading={busy}>
          {texts.signIn}
        </Button>
      </Stack>
    </form>
  );
}
