import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';
import { texts } from '../texts.ts';

interface Props {
  readonly what: keyof typeof texts.confirmDelete;
  readonly name: string;
  readonly deleting: boolean;
  /** Why the server refused to delete it, and what to do about that. */
  readonly refusal: ReactNode;
  readonly onDelete: () => void;
  /** Called when the dialog closes: forget the refusal. */
  readonly onClose: () => void;
}

/** A button that deletes something after a confirmation. The dialog shows the refusal of the server. */
export function DeleteButton({ what, name, deleting, refusal, onDelete, onClose }: Props): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  const dismiss = (): void => {
    close();
    onClose();
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        {texts.delete}
      </Button>
      <Modal
        opened={opened}
        onClose={dismiss}
        closeButtonProps={{ 'aria-label': texts.close }}
        title={texts.confirmDelete[what]}
      >
        <Stack>
          <Text className="user-text">{name}</Text>
          {refusal}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={dismiss} data-autofocus>
              {texts.cancel}
            </Button>
            <Button color="red" loading={deleting} onClick={onDelete}>
              {texts.delete}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
