import { Badge, Group, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../components/rich-text.tsx';
import { mediumName } from '../../components/medium.ts';
import { ElapsedTime, useNow } from '../../components/time/elapsed-time.tsx';
import { useVisitorName } from '../../data/use-visitor.ts';
import type { Conversation } from './conversation/conversation.ts';
import classes from './desk.module.css';
import { isOpen, isTyping, lastChatMessage, unreadOf, waitingSince } from './conversation/selectors.ts';
import { texts } from './texts.ts';

interface Props {
  readonly chats: readonly Conversation[];
  readonly openId: string | null;
}

/** The conversations of the operator, with those that wait for an answer marked. */
export function ChatList({ chats, openId }: Props): ReactElement {
  return (
    <ul className={classes['list']} aria-label={texts.conversations}>
      {chats.map((chat) => (
        <li key={chat.id}>
          <Chat chat={chat} isShown={chat.id === openId} />
        </li>
      ))}
    </ul>
  );
}

function Chat({ chat, isShown }: { readonly chat: Conversation; readonly isShown: boolean }): ReactElement {
  const { engagement } = chat;
  const name = useVisitorName(engagement.site_id, engagement.visitor_id);
  const unread = unreadOf(chat);
  const since = waitingSince(chat);
  return (
    <Link href={`/desk/${chat.id}`} className={classes['chat'] ?? ''} aria-current={isShown}>
      <Group justify="space-between" gap={6} wrap="nowrap">
        <Text fw={unread > 0 ? 700 : 550} size="sm" truncate title={name}>
          <bdi>{name}</bdi>
        </Text>
        {unread === 0 ? null : (
          <Badge size="sm" circle flex="none" aria-label={texts.unread(unread)}>
            {unread}
          </Badge>
        )}
      </Group>
      <Preview chat={chat} />
      <Group justify="space-between" gap={6} wrap="nowrap" mt={2}>
        <Text size="xs" c="dimmed">
          {mediumName(engagement.media)}
        </Text>
        <Text
          size="xs"
          c={since === null ? 'dimmed' : 'var(--mantine-color-orange-light-color)'}
          fw={since === null ? 400 : 650}
          component="span"
        >
          {isOpen(chat) ? (
            since === null ? (
              <ElapsedTime at={engagement.started_at} />
            ) : (
              <RichText text={texts.waitingFor} values={{ duration: <ElapsedTime at={since} /> }} />
            )
          ) : (
            texts.ended
          )}
        </Text>
      </Group>
    </Link>
  );
}

function Preview({ chat }: { readonly chat: Conversation }): ReactElement {
  const typing = isTyping(chat, useNow());
  const last = lastChatMessage(chat);
  return (
    <Text size="xs" c="dimmed" truncate>
      {typing ? texts.typing : <bdi>{last === null ? texts.noMessagesYet : last.content || texts.file}</bdi>}
    </Text>
  );
}
