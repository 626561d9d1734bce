import { Button, Group, Modal, Stack, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';
import { ProblemNote } from '../problem.tsx';
import { texts } from '../texts.ts';

interface Props extends Pick<ButtonProps, 'size' | 'variant' | 'color'> {
  /** The label of the button and of the confirming button. */
  readonly label: string;
  /** The accessible name of the button, where `label` is not unique on the page. */
  readonly name?: string;
  readonly question: string;
  /** The consequences. */
  readonly children: ReactNode;
  readonly busy: boolean;
  readonly error: unknown;
  readonly dangerous?: boolean;
  /** The caller calls `done` on success, which closes the dialog. */
  readonly onConfirm: (done: () => void) => void;
  /** Called when the dialog closes: forget the refusal. */
  readonly onClose: () => void;
}

/** A button for an action that cannot be undone: a dialog explains the consequences and shows a refusal of the server. */
export function ConfirmButton(props: Props): ReactElement {
  const { label, name = label, question, children, busy, error, dangerous = true } = props;
  const [opened, { open, close }] = useDisclosure();
  const dismiss = (): void => {
    close();
    props.onClose();
  };
  return (
    <>
      <Button
        variant={props.variant ?? 'default'}
        size={props.size ?? 'sm'}
        {...(props.color === undefined ? {} : { color: props.color })}
        aria-label={name}
        onClick={open}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={dismiss} title={question} closeButtonProps={{ 'aria-label': texts.close }}>
        <Stack>
          {children}
          <ProblemNote error={error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={dismiss} data-autofocus>
              {texts.cancel}
            </Button>
            <Button {...(dangerous ? { color: 'red' } : {})} loading={busy} onClick={() => props.onConfirm(close)}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
