import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { NewSecret } from './new-secret.tsx';

/** Rotates the secret after a confirmation, and shows the new one once. */
export function RotateSecret({ id }: { readonly id: string }): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  const rotate = useChange('POST /webhooks/{webhook_id}/rotate_secret');
  const dismiss = (): void => {
    close();
    rotate.reset();
  };
  const created = rotate.data?.data;
  return (
    <Group justify="space-between">
      <Text size="sm" maw={480}>
        {texts.secretHelp}
      </Text>
      <Button variant="default" onClick={open}>
        {texts.rotateSecret}
      </Button>
      <Modal
        opened={opened}
        onClose={dismiss}
        title={created === undefined ? texts.confirmRotateSecret : texts.newSecret}
        closeButtonProps={{ 'aria-label': texts.close }}
        closeOnClickOutside={created === undefined}
        size="lg"
      >
        {created === undefined ? (
          <Stack>
            <Text size="sm">{texts.rotateSecretHelp}</Text>
            <ProblemNote error={rotate.error} />
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={dismiss} data-autofocus>
                {texts.cancel}
              </Button>
              <Button loading={rotate.isPending} onClick={() => rotate.mutate({ path: { webhook_id: id }, body: {} })}>
                {texts.rotate}
              </Button>
            </Group>
          </Stack>
        ) : (
          <Stack>
            <NewSecret secret={created.secret} oldUntil={created.old_secret_until} />
            <Button onClick={dismiss} w="fit-content">
              {texts.secretSaved}
            </Button>
          </Stack>
        )}
      </Modal>
    </Group>
  );
}
