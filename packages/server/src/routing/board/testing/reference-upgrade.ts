import type { CallId } from '../../../platform/ids.ts';
import type { Command } from '../commands.ts';
import { appendEvent } from './reference-transitions.ts';
import {
  followMedium,
  isParty,
  loadOf,
  ReferenceRefusal,
  ongoing,
  type Engagement,
  type World,
} from './reference-world.ts';

/** The id of a call that does not exist. */
export const noCall = 'none' as CallId;

/** D4.4: audio and video need an operator without other engagements. */
export function acceptUpgrade(
  world: World,
  { engagementId, by, upgrade }: Command<'acceptUpgrade'>,
): Engagement | null {
  const engagement = ongoing(world).find(({ id }) => id === engagementId);
  if (engagement === undefined || !isParty(engagement, by) || upgrade?.pending !== true) return null;
  if (upgrade.target !== by.kind) throw new ReferenceRefusal('forbidden');
  if (engagement.medium === 'text' && loadOf(world, engagement.operator).length > 1)
    throw new ReferenceRefusal('operator_unavailable');
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
  return engagement;
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
