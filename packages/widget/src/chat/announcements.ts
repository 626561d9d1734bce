import type { MediaUpgradeRequest } from '@usher/sdk/api-types';
import { callKindOf } from '../calls/call-media.ts';
import type { Message } from './messages.ts';
import { texts } from '../texts.ts';

/** The part of the state that screen readers announce. */
export interface AnnouncedState {
  readonly phase: 'idle' | 'starting' | 'waiting' | 'engaged' | 'ended';
  readonly messages: readonly Message[];
  readonly upgrade: Invitation | null;
  readonly isPanelOpen: boolean;
}

type Invitation = Pick<MediaUpgradeRequest, 'id' | 'target' | 'audio' | 'video'>;

/**
 * What a screen reader announces when the state changes. The log of an open panel announces messages; this announces them while the
 * panel is closed. The start and the end of a conversation are always announced here: the panel then changes its content, and screen
 * readers skip elements that appear together with their text. What a reload shows again is not announced.
 */
export function announcementsOf(before: AnnouncedState, now: AnnouncedState): string[] {
  const { upgrade } = now;
  const isInvited = upgrade !== null && upgrade.target === 'visitor' && upgrade.id !== before.upgrade?.id;
  return [
    ...(before.phase === 'waiting' && now.phase === 'engaged' ? [texts.joinedAnnouncement] : []),
    ...newMessages(before, now).map((message) => texts.messageAnnouncement(contentOf(message))),
    ...(isInvited ? [texts.invitationAnnouncement[callKindOf(upgrade)]] : []),
    ...(before.phase === 'engaged' && now.phase === 'ended' ? [texts.endedAnnouncement] : []),
  ];
}

/** The operator's messages that arrived while the panel was closed. */
function newMessages(before: AnnouncedState, now: AnnouncedState): readonly Message[] {
  const wasUnderWay = before.phase === 'waiting' || before.phase === 'engaged';
  if (now.isPanelOpen || !wasUnderWay || now.phase !== 'engaged') return [];
  const earlier = before.phase === 'engaged' ? before.messages : [];
  return now.messages.filter(({ id, from }) => from === 'operator' && !earlier.some((message) => message.id === id));
}

function contentOf({ content, attachment }: Message): string {
  const names = attachment?.type === 'files' ? attachment.files.map(({ name }) => name) : [];
  return [content, ...names].filter((text) => text !== '').join(', ');
}
