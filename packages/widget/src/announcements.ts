import type { MediaUpgradeRequest } from '@usher/client/api-types';
import type { Message } from './messages.ts';
import { words } from './words.ts';

/** What of the state is heard. */
interface Heard {
  readonly phase: 'idle' | 'starting' | 'waiting' | 'engaged' | 'ended';
  readonly messages: readonly Message[];
  readonly upgrade: Invitation | null;
  readonly isPanelOpen: boolean;
}

type Invitation = Pick<MediaUpgradeRequest, 'id' | 'target' | 'audio' | 'video'>;

/**
 * What a screen reader says when one state follows another. Messages are said by the log of an open panel, and here while the
 * panel is closed. That a conversation begins or ends is always said here: the panel then shows something else, and elements
 * that appear together with their text are not read out. What a reload shows again is no news.
 */
export function announcementsOf(before: Heard, now: Heard): string[] {
  const { upgrade } = now;
  const isInvited = upgrade !== null && upgrade.target === 'visitor' && upgrade.id !== before.upgrade?.id;
  return [
    ...(before.phase === 'waiting' && now.phase === 'engaged' ? [words.joined] : []),
    ...unheard(before, now).map((message) => words.newMessage(contentOf(message))),
    ...(isInvited ? [words.youAreInvited(words.mediaInWords(upgrade))] : []),
    ...(before.phase === 'engaged' && now.phase === 'ended' ? [words.over] : []),
  ];
}

function unheard(before: Heard, now: Heard): readonly Message[] {
  const wasUnderWay = before.phase === 'waiting' || before.phase === 'engaged';
  if (now.isPanelOpen || !wasUnderWay || now.phase !== 'engaged') return [];
  const known = before.phase === 'engaged' ? before.messages : [];
  return now.messages.filter(({ id, from }) => from === 'operator' && !known.some((message) => message.id === id));
}

function contentOf({ content, attachment }: Message): string {
  const names = attachment?.type === 'files' ? attachment.files.map(({ name }) => name) : [];
  return [content, ...names].filter((text) => text !== '').join(', ');
}
