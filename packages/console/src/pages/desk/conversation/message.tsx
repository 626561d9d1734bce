import { Button, Group, Stack, Text } from '@mantine/core';
import { CheckIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { LinkedText } from '../../../components/linked-text.tsx';
import { texts } from '../texts.ts';
import type { Conversation, Message } from './conversation.ts';
import classes from '../desk.module.css';
import { FileLinks } from './file-links.tsx';
import { cardOf, chosenFrom, filesOf } from './selectors.ts';
import { useColleagues } from '../transfers/use-colleagues.ts';
import { useDesk } from '../use-desk.ts';

interface Props {
  /** The conversation of the message. */
  readonly chat: Pick<Conversation, 'id' | 'engagement' | 'messages'>;
  readonly message: Message;
  /** The name of the visitor. */
  readonly name: string;
  readonly use?: (text: string) => void;
}

/**
 * The operator's messages are at the right, the visitor's at the left; messages of system and assistant are for the operator
 * only.
 */
export function MessageView(props: Props): ReactElement {
  switch (props.message.sender.type) {
    case 'system':
      return <SystemNote {...props} />;
    case 'omniguide':
      return <AssistantNote {...props} />;
    case 'operator':
    case 'visitor':
      return <Bubble {...props} />;
  }
}

function Bubble({ chat, message, name }: Props): ReactElement {
  const isOurs = message.sender.type === 'operator';
  const files = filesOf(message.attachment);
  return (
    <article
      className={`${classes['bubble']} ${isOurs ? classes['ours'] : classes['theirs']}`}
      aria-label={isOurs ? texts.fromOperator : texts.from(name)}
    >
      {isOurs ? <Sender chat={chat} message={message} /> : null}
      {message.content === '' ? null : (
        <Text size="sm" className="user-text">
          <LinkedText text={message.content} />
        </Text>
      )}
      <CardView chat={chat} message={message} />
      {files.length === 0 ? null : <FileLinks engagementId={chat.id} files={files} />}
      <Group gap={6} justify="flex-end" mt={2}>
        <Time at={message.timestamp} />
        {isOurs ? (
          <Text size="xs" c="dimmed">
            {message.status === 'delivered' ? texts.delivered : texts.sent}
          </Text>
        ) : null}
      </Group>
    </article>
  );
}

/** The name of the operator, if it is not the reader. */
function Sender({ chat, message }: Pick<Props, 'chat' | 'message'>): ReactElement | null {
  const { operatorId } = useDesk();
  const { engagement } = chat;
  const by = engagement.sub_engagements.find(({ id }) => id === message.sub_engagement_id)?.operator_id;
  const isOther = by !== undefined && by !== operatorId;
  const colleagues = useColleagues([engagement.site_id], isOther);
  if (!isOther) return null;
  return (
    <Text size="xs" fw={600}>
      <bdi>{colleagues.find(({ id }) => id === by)?.name ?? texts.colleague}</bdi>
    </Text>
  );
}

function Time({ at }: { readonly at: string }): ReactElement {
  const date = new Date(at);
  return (
    <Text size="xs" c="dimmed" component="time" dateTime={at} title={date.toLocaleString()} className="tabular">
      {date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })}
    </Text>
  );
}

/** The card as the visitor sees it, with the chosen option. Pictures of other hosts are not loaded here. */
function CardView({ chat, message }: Pick<Props, 'chat' | 'message'>): ReactElement | null {
  const card = cardOf(message.attachment);
  if (card === null) return null;
  const chosen = chosenFrom(chat.messages, message);
  return (
    <Stack gap={4} mt={6} component="ul" className={classes['plain'] ?? ''} aria-label={texts.choices}>
      {card.image === null ? null : (
        <Text size="xs" c="dimmed" component="li">
          <RichText text={texts.picture} values={{ url: <bdi>{card.image}</bdi> }} />
        </Text>
      )}
      {card.options.map(({ text, value }) => (
        <Group
          key={value}
          className={classes['option'] ?? ''}
          data-chosen={value === chosen || undefined}
          gap={6}
          component="li"
        >
          {value === chosen ? <CheckIcon aria-label={texts.chosen} /> : null}
          <Text size="sm" fw="inherit" className="user-text">
            {text}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

function SystemNote({ message }: Props): ReactElement {
  return (
    <Text
      size="xs"
      c="dimmed"
      className={`user-text ${classes['note']}`}
      title={new Date(message.timestamp).toLocaleString()}
    >
      <LinkedText text={message.content} />
    </Text>
  );
}

function AssistantNote({ message, use }: Props): ReactElement {
  const { type } = (message.metadata ?? {}) as { type?: string };
  const options = cardOf(message.attachment)?.options ?? [];
  return (
    <aside className={classes['assistant']} aria-label={texts.assistant}>
      <Text size="xs" c="dimmed" fw={600}>
        {type === 'suggestion' ? texts.assistantSuggests : texts.assistantNote}
      </Text>
      <Text size="sm" className="user-text">
        <LinkedText text={message.content} />
      </Text>
      {use === undefined ? null : (
        <Group gap={6} mt={6}>
          {type === 'suggestion' ? (
            <Button size="compact-xs" variant="default" onClick={() => use(message.content)}>
              {texts.insertReply}
            </Button>
          ) : null}
          {options.map(({ text, value }) => (
            <Button key={value} size="compact-xs" variant="default" onClick={() => use(text)}>
              {text}
            </Button>
          ))}
        </Group>
      )}
    </aside>
  );
}
