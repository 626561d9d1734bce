import { Button, Group, Modal, Stack, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';
import { ProblemNote } from './problem.tsx';
import { texts } from './texts.ts';

interface Props extends Pick<ButtonProps, 'size' | 'variant' | 'color'> {
  /** What the button says, and the one that does it. */
  readonly label: string;
  /** The button's full name where `label` alone does not tell it from others on the page. */
  readonly name?: string;
  readonly question: string;
  /** What will happen. */
  readonly children: ReactNode;
  readonly keep?: string;
  readonly busy: boolean;
  readonly error: unknown;
  readonly dangerous?: boolean;
  /** To be called back once it is done. */
  readonly onYes: (done: () => void) => void;
  /** The question was closed: a refusal is of no more interest. */
  readonly onClose: () => void;
}

/** What cannot be undone is asked once, with what it leads to, and says there why it was refused. */
export function AskFirst(props: Props): ReactElement {
  const { label, name = label, question, children, keep = texts.cancel, busy, error, dangerous = true } = props;
  const [opened, { open, close }] = useDisclosure();
  const leave = (): void => {
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
      <Modal opened={opened} onClose={leave} title={question} closeButtonProps={{ 'aria-label': texts.close }}>
        <Stack>
          {children}
          <ProblemNote error={error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={leave} data-autofocus>
              {keep}
            </Button>
            <Button {...(dangerous ? { color: 'red' } : {})} loading={busy} onClick={() => props.onYes(close)}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
