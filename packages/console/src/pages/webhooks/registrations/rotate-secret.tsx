import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { SecretShown } from './secret-shown.tsx';

/** Gives a webhook a new secret, after asking, and shows it once. */
export function RotateSecret({ id }: { readonly id: string }): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  const rotate = useChange('POST /webhooks/{webhook_id}/rotate_secret');
  const leave = (): void => {
    close();
    rotate.reset();
  };
  const made = rotate.data?.data;
  return (
    <Group justify="space-between">
      <Text size="sm" maw={480}>
        The secret signs every request. After rotating it the former one works for a day more.
      </Text>
      <Button variant="default" onClick={open}>
        Rotate the secret
      </Button>
      <Modal
        opened={opened}
        onClose={leave}
        title={made === undefined ? 'Rotate the secret?' : 'The new secret'}
        closeButtonProps={{ 'aria-label': 'Close' }}
        closeOnClickOutside={made === undefined}
        size="lg"
      >
        {made === undefined ? (
          <Stack>
            <Text size="sm">
              A new secret is made and shown once. For a day every request is signed with both, so that nothing is
              refused while the receiver changes over. Rotated again within the day, the first one ends at once.
            </Text>
            <ProblemNote error={rotate.error} />
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={leave} data-autofocus>
                Keep the present one
              </Button>
              <Button loading={rotate.isPending} onClick={() => rotate.mutate({ path: { webhook_id: id }, body: {} })}>
                Rotate
              </Button>
            </Group>
          </Stack>
        ) : (
          <Stack>
            <SecretShown secret={made.secret} oldUntil={made.old_secret_until} />
            <Button onClick={leave} w="fit-content">
              I have kept it
            </Button>
          </Stack>
        )}
      </Modal>
    </Group>
  );
}
