import { SimpleGrid } from '@mantine/core';
import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';
import { PasswordForm } from './password-form.tsx';
import { Sessions } from './sessions.tsx';

/** One's own sign-in: the password, and where one is signed in. */
export function AccountPage(): ReactElement {
  return (
    <>
      <PageTitle title="Password and sessions" />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Sessions />
        <PasswordForm />
      </SimpleGrid>
    </>
  );
}
