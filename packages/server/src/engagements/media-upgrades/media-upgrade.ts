import Type from 'typebox';
import type { AccountId } from '../../platform/ids.ts';
import { body, checked, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

const audio = nullable(oneOf(['two_way'] as const));
const video = nullable(oneOf(['one_way', 'two_way'] as const));

export const upgradeInput = checked(body({ audio, video }), (value) => {
  if (typeof value !== 'object' || value === null) return [];
  const given = value as { audio?: unknown; video?: unknown };
  if (given.audio !== null || given.video !== null) return [];
  return [{ attribute: '', detail: 'must ask for audio or video or both: one of them must not be null' }];
});

export const upgradeAnswer = body({ action: oneOf(['accept', 'decline', 'cancel'] as const) });

export const upgradeOutput = output('MediaUpgradeRequest', {
  id: uuid<'media_upgrade_request'>(),
  engagement_id: uuid<'engagement'>(),
  sub_engagement_id: uuid<'sub_engagement'>(),
  audio,
  video,
  target: Type.Unsafe<'visitor' | 'operator'>({ ...oneOf(['visitor', 'operator']), description: 'Who is asked' }),
  state: oneOf(['pending', 'accepted', 'declined', 'canceled'] as const),
  created_at: timestamp,
  updated_at: timestamp,
});

export interface UpgradeRow extends Type.Static<typeof upgradeOutput> {
  readonly account_id: AccountId;
}
