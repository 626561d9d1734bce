import { Button, Divider, Loader, Text } from '@mantine/core';
import { Fragment, useEffect, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { useNow } from '../../../components/time/elapsed-time.tsx';
import { texts } from '../texts.ts';
import type { Conversation } from './conversation.ts';
import classes from '../desk.module.css';
import { dayLabel } from '../labels.ts';
import { MessageView } from './message.tsx';
import { OutgoingView } from './outgoing.tsx';
import { isTyping } from './selectors.ts';
import { threadOf } from './thread.ts';
import { ThreadNote } from './thread-note.tsx';
import { useDesk } from '../use-desk.ts';

interface Props {
  readonly chat: Conversation;
  readonly name: string;
  /** Puts a text into the composer. */
  readonly use: (text: string) => void;
}

/** The number of messages shown at first and added on demand. */
const pageSize = 200;
/** Within this distance the list counts as scrolled to the end. */
const nearPx = 80;

/** The messages, newest last; the list stays at its end unless the operator scrolled up. */
export function Messages({ chat, name, use }: Props): ReactElement {
  const [shown, show] = useState(pageSize);
  const thread = threadOf(chat);
  const entries = thread.slice(-shown);
  const list = useStayAtEnd();
  const now = useNow();
  const typing = isTyping(chat, now);
  const days = entries.map(({ at }) => dayLabel(new Date(at), new Date(now)));
  useMarkSeen(chat);
  return (
    <section
      ref={list}
      className={classes['messages']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard.
      tabIndex={0}
      aria-label={texts.messages}
    >
      {chat.isRead ? null : <Loader aria-label={texts.loading} size="sm" mx="auto" />}
      {thread.length <= shown ? null : (
        <Button variant="subtle" size="compact-sm" onClick={() => show(shown + pageSize)} flex="none">
          {texts.showEarlierMessages}
        </Button>
      )}
      {entries.map((entry, index) => (
        <Fragment key={entry.id}>
          {days[index] === days[index - 1] ? null : <Divider label={days[index]} labelPosition="center" my={4} />}
          {entry.kind === 'message' ? (
            <MessageView chat={chat} message={entry.message} name={name} use={use} />
          ) : (
            <ThreadNote entry={entry} />
          )}
        </Fragment>
      ))}
      {chat.outgoing.map((outgoing) => (
        <OutgoingView key={outgoing.id} chat={chat} outgoing={outgoing} />
      ))}
      {chat.isRead && thread.length + chat.outgoing.length === 0 ? (
        <Text c="dimmed" size="sm" ta="center" my="auto">
          {texts.noMessagesYet}
        </Text>
      ) : null}
      {typing ? (
        <Text size="sm" c="dimmed" component="output">
          <RichText text={texts.isTyping} values={{ name: <bdi>{name}</bdi> }} />
        </Text>
      ) : null}
    </section>
  );
}

function useStayAtEnd() {
  const list = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const onScroll = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx;
    };
    element.addEventListener('scroll', onScroll);
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  });
  return list;
}

/** Acknowledges messages while the window is visible. */
function useMarkSeen({ id }: Conversation): void {
  const desk = useDesk();
  useEffect(() => {
    const markSeen = (): void => {
      if (document.visibilityState === 'visible') desk.markSeen(id);
    };
    markSeen();
    document.addEventListener('visibilitychange', markSeen);
    return () => document.removeEventListener('visibilitychange', markSeen);
  });
}
