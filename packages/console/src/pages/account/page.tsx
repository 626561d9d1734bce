import { SimpleGrid, Stack } from '@mantine/core';
import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';
import { PictureField } from '../../components/picture-field.tsx';
import { useMe } from '../../data/use-me.ts';
import { PasswordForm } from './password-form.tsx';
import { Sessions } from './sessions.tsx';
import { texts } from './texts.ts';

/** The operator's own account: picture, password and sessions. */
export function AccountPage(): ReactElement {
  const { operator } = useMe();
  return (
    <>
      <PageTitle title={texts.yourAccount} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Sessions />
        <Stack gap="xl">
          <PictureField operator={operator} />
          <PasswordForm />
        </Stack>
      </SimpleGrid>
    </>
  );
}
