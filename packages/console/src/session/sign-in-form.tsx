import { Alert, Button, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { describeError } from '../components/describe-error.ts';
import type { Credentials } from './session.ts';
import { texts } from './texts.ts';
import { useSession } from './use-session.ts';

type SignInMethod = 'password' | 'key';

/** Sign-in with e-mail and password, or with an API key. */
export function SignInForm(): ReactElement {
  const session = useSession();
  const [method, setMethod] = useState<SignInMethod>('password');
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
    const credentials: Credentials =
      method === 'password' ? { email: name, password: secret } : { api_key_id: name, api_key_secret: secret };
    await session.signIn(credentials).catch((error: unknown) => setFailure(describeError(error)));
    setBusy(false);
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <SegmentedControl
          fullWidth
          aria-label={texts.signInWith}
          value={method}
          onChange={(value) => setMethod(value)}
          data={[
            { value: 'password', label: texts.emailAndPassword },
            { value: 'key', label: texts.apiKey },
          ]}
        />
        <TextInput
          ref={first}
          label={method === 'password' ? texts.email : texts.keyId}
          autoComplete="username"
          type={method === 'password' ? 'email' : 'text'}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <PasswordInput
          label={method === 'password' ? texts.password : texts.keySecret}
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
