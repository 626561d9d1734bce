import Type from 'typebox';
import type { AccountId } from '../../platform/ids.ts';
import { phoneNumber } from '../../routing/notes.ts';
import { body, checked, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

const audio = nullable(oneOf(['two_way'] as const));
const video = nullable(oneOf(['one_way', 'two_way'] as const));

/** What clients of this family say of a call by phone. It is kept and shown, and decides nothing. */
const callFields = {
  audio_type: nullable(Type.String({ maxLength: 64 })),
  phone_number: nullable(phoneNumber),
  phone_extension: nullable(
    Type.String({ pattern: '^[0-9*#,]{0,32}$', description: 'Digits, *, # and , for a pause' }),
  ),
};

const input = body({
  audio,
  video,
  audio_type: Type.Optional(callFields.audio_type),
  phone_number: Type.Optional(callFields.phone_number),
  phone_extension: Type.Optional(callFields.phone_extension),
});

export const upgradeInput = checked(input, (value) => {
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
  ...callFields,
});

export type UpgradeInput = Type.Static<typeof input>;

export interface UpgradeRow extends Type.Static<typeof upgradeOutput> {
  readonly account_id: AccountId;
}
