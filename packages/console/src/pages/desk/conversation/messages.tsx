import { Button, Divider, Loader, Text } from '@mantine/core';
import { Fragment, useEffect, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { useNow } from '../../../components/since.tsx';
import { texts } from '../texts.ts';
import type { Conversation } from './conversation.ts';
import classes from '../desk.module.css';
import { dayInWords } from '../in-words.ts';
import { MessageView } from './message.tsx';
import { OutgoingView } from './outgoing.tsx';
import { isTyping } from './reading.ts';
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
const shownAtFirst = 200;
/** Within this distance the list counts as scrolled to the end. */
const nearPx = 80;

/** The messages, newest last; the list stays at its end unless the operator scrolled up. */
export function Messages({ chat, name, use }: Props): ReactElement {
  const [shown, show] = useState(shownAtFirst);
  const thread = threadOf(chat);
  const entries = thread.slice(-shown);
  const box = useStayAtEnd();
  const now = useNow();
  const typing = isTyping(chat, now);
  const days = entries.map(({ at }) => dayInWords(new Date(at), new Date(now)));
  useSeeing(chat);
  return (
    <section
      ref={box}
      className={classes['messages']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls: whoever has no mouse must get to it.
      tabIndex={0}
      aria-label={texts.messages}
    >
      {chat.isRead ? null : <Loader aria-label={texts.loading} size="sm" mx="auto" />}
      {thread.length <= shown ? null : (
        <Button variant="subtle" size="compact-sm" onClick={() => show(shown + shownAtFirst)} flex="none">
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
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx;
    };
    element.addEventListener('scroll', look);
    return () => element.removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });
  return box;
}

/** Acknowledges messages while the window is visible. */
function useSeeing({ id }: Conversation): void {
  const desk = useDesk();
  useEffect(() => {
    const see = (): void => {
      if (document.visibilityState === 'visible') desk.see(id);
    };
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  });
}
