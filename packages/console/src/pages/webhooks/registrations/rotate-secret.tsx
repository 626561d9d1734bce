import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { SecretShown } from './secret-shown.tsx';

/** Rotates the secret after a confirmation, and shows the new one once. */
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
        {texts.secretHelp}
      </Text>
      <Button variant="default" onClick={open}>
        {texts.rotateSecret}
      </Button>
      <Modal
        opened={opened}
        onClose={leave}
        title={made === undefined ? texts.confirmRotateSecret : texts.newSecret}
        closeButtonProps={{ 'aria-label': texts.close }}
        closeOnClickOutside={made === undefined}
        size="lg"
      >
        {made === undefined ? (
          <Stack>
            <Text size="sm">{texts.rotateSecretHelp}</Text>
            <ProblemNote error={rotate.error} />
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={leave} data-autofocus>
                {texts.cancel}
              </Button>
              <Button loading={rotate.isPending} onClick={() => rotate.mutate({ path: { webhook_id: id }, body: {} })}>
                {texts.rotate}
              </Button>
            </Group>
          </Stack>
        ) : (
          <Stack>
            <SecretShown secret={made.secret} oldUntil={made.old_secret_until} />
            <Button onClick={leave} w="fit-content">
              {texts.secretSaved}
            </Button>
          </Stack>
        )}
      </Modal>
    </Group>
  );
}
