import { Modal, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { SignInForm } from './sign-in-form.tsx';
import { texts } from './texts.ts';
import { useSessionState } from './use-session.ts';

/** A dialog over the page: typed text stays, and pending requests continue after sign-in. */
export function SignInAgain(): ReactElement {
  const { kind } = useSessionState();
  return (
    <Modal
      opened={kind === 'expired'}
      onClose={() => undefined}
      title={texts.signInAgain}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Text size="sm" c="dimmed" mb="md">
        {texts.sessionExpired}
      </Text>
      <SignInForm />
    </Modal>
  );
}
