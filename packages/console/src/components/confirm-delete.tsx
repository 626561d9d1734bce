import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';

interface Props {
  /** `queue`, `policy`. */
  readonly what: string;
  readonly name: string;
  readonly deleting: boolean;
  /** Why it was refused, with what to do about it. */
  readonly refusal: ReactNode;
  readonly onDelete: () => void;
  /** The question was closed: a refusal is of no more interest. */
  readonly onClose: () => void;
}

/** Deleting asks once, names what it is about, and says there why it was refused. */
export function DeleteButton({ what, name, deleting, refusal, onDelete, onClose }: Props): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  const leave = (): void => {
    close();
    onClose();
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        Delete
      </Button>
      <Modal
        opened={opened}
        onClose={leave}
        closeButtonProps={{ 'aria-label': 'Close' }}
        title={`Delete this ${what}?`}
      >
        <Stack>
          <Text className="user-text">{name}</Text>
          {refusal}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={leave} data-autofocus>
              Keep it
            </Button>
            <Button color="red" loading={deleting} onClick={onDelete}>
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
