import type { Message } from './messages.ts';
import type { State } from './state.ts';
import { mediaInWords } from './texts.ts';

type Seen = Pick<State, 'phase' | 'messages' | 'upgrade' | 'isPanelOpen'>;

/**
 * What a screen reader says when one state follows another. Messages are said by the log of an open panel, and here while the
 * panel is closed. That a conversation begins or ends is always said here: the panel then shows something else, and elements
 * that appear together with their text are not read out. What a reload shows again is no news.
 */
export function announcementsOf(before: Seen, now: Seen): string[] {
  const { upgrade } = now;
  const isInvited = upgrade !== null && upgrade.target === 'visitor' && upgrade.id !== before.upgrade?.id;
  return [
    ...(before.phase === 'waiting' && now.phase === 'engaged' ? ['We have joined the chat.'] : []),
    ...unheard(before, now).map((message) => `New message: ${contentOf(message)}`),
    ...(isInvited ? [`You are invited to ${mediaInWords(upgrade)}.`] : []),
    ...(before.phase === 'engaged' && now.phase === 'ended' ? ['The chat is over.'] : []),
  ];
}

function unheard(before: Seen, now: Seen): readonly Message[] {
  const wasUnderWay = before.phase === 'waiting' || before.phase === 'engaged';
  if (now.isPanelOpen || !wasUnderWay || now.phase !== 'engaged') return [];
  const known = before.phase === 'engaged' ? before.messages : [];
  return now.messages.filter(({ id, from }) => from === 'operator' && !known.some((message) => message.id === id));
}

function contentOf({ content, attachment }: Message): string {
  const names = attachment?.type === 'files' ? attachment.files.map(({ name }) => name) : [];
  return [content, ...names].filter((text) => text !== '').join(', ');
}
