import Type from 'typebox';
import type { AccountId } from '../../platform/ids.ts';
import { body, checked, oneOf } from '../../platform/schema.ts';
import { upgradeFields, type upgradeOutput } from '../../routing/media-upgrade.ts';

const input = body({
  audio: upgradeFields.audio,
  video: upgradeFields.video,
  audio_type: Type.Optional(upgradeFields.audio_type),
  phone_number: Type.Optional(upgradeFields.phone_number),
  phone_extension: Type.Optional(upgradeFields.phone_extension),
});

export const upgradeInput = checked(input, (value) => {
  if (typeof value !== 'object' || value === null) return [];
  const given = value as { audio?: unknown; video?: unknown };
  if (given.audio !== null || given.video !== null) return [];
  return [{ attribute: '', detail: 'must request audio, video or both: `audio` and `video` must not both be null' }];
});

export const upgradeAnswer = body({ action: oneOf(['accept', 'decline', 'cancel'] as const) });

export type UpgradeInput = Type.Static<typeof input>;

export interface UpgradeRow extends Type.Static<typeof upgradeOutput> {
  readonly account_id: AccountId;
}
