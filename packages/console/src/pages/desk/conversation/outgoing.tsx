import { Button, Group, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { LinkedText } from '../../../components/linked-text.tsx';
import { texts } from '../texts.ts';
import type { Conversation, Outgoing } from './conversation.ts';
import classes from '../desk.module.css';
import { useDesk } from '../use-desk.ts';

interface Props {
  readonly chat: Conversation;
  readonly outgoing: Outgoing;
}

/** A message of the operator that has not been sent. */
export function OutgoingView({ chat, outgoing }: Props): ReactElement {
  const desk = useDesk();
  const { content, attachment, state, problem } = outgoing;
  return (
    <article className={`${classes['bubble']} ${classes['ours']}`} aria-label={texts.notSentYet}>
      {content === '' ? null : (
        <Text size="sm" className="user-text">
          <LinkedText text={content} />
        </Text>
      )}
      {attachment?.type === 'single_choice'
        ? attachment.options.map(({ text, value }) => (
            <Text key={value} size="sm" className={`user-text ${classes['option']}`} mt={4}>
              {text}
            </Text>
          ))
        : null}
      {attachment?.type === 'files' ? <Text size="sm">{texts.files(attachment.files.length)}</Text> : null}
      {problem === null ? (
        <Text size="xs" c="dimmed" ta="end" mt={2}>
          {state === 'sent' ? texts.sent : texts.sending}
        </Text>
      ) : (
        <Group gap={6} mt={4} justify="flex-end">
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {state === 'refused' ? texts.notSentBecause(problem) : texts.notSentYetBecause(problem)}
          </Text>
          <Button size="compact-xs" onClick={() => desk.sendAgain(chat.id, outgoing)}>
            {texts.tryAgain}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => desk.discard(chat.id, outgoing.id)}>
            {texts.discard}
          </Button>
        </Group>
      )}
    </article>
  );
}
