import type { CallId } from '../../../packages/server/src/platform/ids.ts';
import type { Command } from '../../../packages/server/src/routing/board/commands.ts';
import { appendEvent } from './reference-transitions.ts';
import {
  followMedium,
  isParty,
  loadOf,
  ReferenceRefusal,
  ongoing,
  siteOf,
  type Engagement,
  type World,
} from './reference-world.ts';

/** The id of a call that does not exist. */
export const noCall = 'none' as CallId;

/** D4.4: the operator has no other call and, unless the site allows calls beside chats, nothing else at all. */
export function acceptUpgrade(
  world: World,
  { engagementId, by, upgrade }: Command<'acceptUpgrade'>,
): Engagement | null {
  const engagement = ongoing(world).find(({ id }) => id === engagementId);
  if (engagement === undefined || !isParty(engagement, by) || upgrade?.pending !== true) return null;
  if (upgrade.target !== by.kind) throw new ReferenceRefusal('forbidden');
  const load = loadOf(world, engagement.operator);
  const isBusy = siteOf(world, engagement.siteId).callsBesideChats
    ? load.some((medium) => medium !== 'text')
    : load.length > 1;
  if (engagement.medium === 'text' && isBusy) throw new ReferenceRefusal('operator_unavailable');
  engagement.medium = upgrade.video === null ? 'audio' : 'video';
  followMedium(world, engagement);
  appendUpgrade(
    world,
    engagement,
    `The ${by.kind} accepted audio${upgrade.video === null ? '' : ' and one-way video'}.`,
  );
  return engagement;
}

/** The command names the active call, or `noCall`. */
export function endCall(world: World, { engagementId, callId, by }: Command<'endCall'>): Engagement | null {
  const engagement = ongoing(world).find(({ id }) => id === engagementId);
  if (engagement === undefined || !isParty(engagement, by) || callId === noCall) return null;
  engagement.medium = 'text';
  followMedium(world, engagement, by.kind);
  transferAsChat(engagement);
  return engagement;
}

/** D5.4: a pending transfer of a call becomes one of a chat. */
function transferAsChat({ transfer }: Engagement): void {
  if (transfer === null || !['audio', 'video'].includes(transfer.medium)) return;
  transfer.medium = 'text';
  if ('entries' in transfer && transfer.request !== null) transfer.request.medium = 'text';
}

function appendUpgrade(world: World, engagement: Engagement, content: string): void {
  appendEvent(world, engagement, 'engagement.chat.system_message', {
    message: {
      timestamp: new Date(world.now).toISOString(),
      id: 'new',
      engagement_id: engagement.id,
      sub_engagement_id: engagement.subId,
      content,
      status: 'sent',
      sender: { type: 'system' },
      target: 'operator',
      type: 'system_message',
      attachment: null,
      metadata: null,
    },
    undelivered_messages: false,
  });
}
