import { Alert, Button, PasswordInput, Stack, Text } from '@mantine/core';
import type { Answer } from '@usher/client/api';
import { maxPasswordLength } from '@usher/contract/limits';
import { useEffect, useState, type ReactElement } from 'react';
import { RichText } from '../components/rich-text.tsx';
import { describeError } from '../components/describe-error.ts';
import { post, type SignedIn } from './session.ts';
import { CenteredCard } from './sign-in-page.tsx';
import { texts } from './texts.ts';
import { useSession } from './use-session.ts';

type Preview = Answer<'POST /operator_authentication/invitations/preview'>;

interface Props {
  readonly invitation: string;
  readonly leave: () => void;
}

/** The form appears after the invitation was read, and has a single input. */
function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}

/** The page of an invitation link: sets the password and signs in. */
export function InvitationPage({ invitation, leave }: Props): ReactElement {
  const session = useSession();
  const [preview, setPreview] = useState<Preview | null>(null);
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    post<Preview>('/operator_authentication/invitations/preview', { invitation }).then(setPreview, (error: unknown) =>
      setFailure(describeError(error)),
    );
  }, [invitation]);

  const submit = async (event: { preventDefault(): void }): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      session.applySignIn(
        await post<SignedIn>('/operator_authentication/invitations/accept', { invitation, password }),
      );
      leave();
    } catch (error) {
      setFailure(describeError(error));
    }
    setBusy(false);
  };

  return (
    <CenteredCard title={texts.welcomeToUsher}>
      {failure === null ? null : (
        <Alert color="red" role="alert">
          {failure}
        </Alert>
      )}
      {preview === null ? null : (
        <form onSubmit={(event) => void submit(event)}>
          <Stack>
            <Text>
              <RichText
                text={texts.invitedAs}
                values={{ name: <b>{preview.name}</b>, email: <b>{preview.email}</b> }}
              />
            </Text>
            <input type="email" autoComplete="username" value={preview.email} readOnly hidden />
            <PasswordInput
              ref={focusOnce}
              label={texts.choosePassword}
              description={texts.atLeast12Characters}
              autoComplete="new-password"
              minLength={12}
              maxLength={maxPasswordLength}
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" loading={busy}>
              {texts.setPasswordAndSignIn}
            </Button>
          </Stack>
        </form>
      )}
    </CenteredCard>
  );
}
