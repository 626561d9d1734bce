import Type from 'typebox';
import { insertEvents } from '../events/append.ts';
import { objectSql } from '../events/payload-sql.ts';
import { fragment } from '../platform/database/database.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../platform/schema.ts';
import { phoneNumber } from './notes.ts';

/** The requested media. `audio_type` and the fields after it describe a phone call; they are stored and returned only. */
export const upgradeFields = {
  audio: nullable(oneOf(['two_way'] as const)),
  video: nullable(oneOf(['one_way', 'two_way'] as const)),
  audio_type: nullable(Type.String({ maxLength: 64 })),
  phone_number: nullable(phoneNumber),
  phone_extension: nullable(
    Type.String({ pattern: '^[0-9*#,]{0,32}$', description: 'Digits, *, # and , for a pause' }),
  ),
};

const { audio, video, ...callFields } = upgradeFields;

export const upgradeOutput = output('MediaUpgradeRequest', {
  id: uuid<'media_upgrade_request'>(),
  engagement_id: uuid<'engagement'>(),
  sub_engagement_id: uuid<'sub_engagement'>(),
  audio,
  video,
  target: Type.Unsafe<'visitor' | 'operator'>({ ...oneOf(['visitor', 'operator']), description: 'The invited side' }),
  state: oneOf(['pending', 'accepted', 'declined', 'canceled'] as const),
  created_at: timestamp,
  updated_at: timestamp,
  ...callFields,
});

/** The state of a media upgrade, for the live feed: it has no webhook event. */
export const upgradeState = { type: 'media_upgrade_request.state', schema: upgradeOutput } as const;

/** Appends the states of the media upgrades that the CTE `upgraded` of the statement has changed. */
export const appendUpgradeStates = fragment((sql) =>
  insertEvents(
    sql,
    sql.unsafe(`
           SELECT u.account_id, gen_random_uuid() AS id, '${upgradeState.type}' AS type, e.site_id, e.ticket_id, e.request_id,
                  e.id AS engagement_id, e.visitor_id, e.operator_id, u.updated_at AS occurred_at, ${stateSql} AS payload
             FROM upgraded u
             JOIN engagements e ON e.id = u.engagement_id`),
  ),
);

const stateSql = objectSql(upgradeState.schema, {
  id: 'u.id',
  engagement_id: 'u.engagement_id',
  sub_engagement_id: 'u.sub_engagement_id',
  audio: 'u.audio',
  video: 'u.video',
  target: 'u.target',
  state: 'u.state',
  created_at: 'u.created_at',
  updated_at: 'u.updated_at',
  audio_type: 'u.audio_type',
  phone_number: 'u.phone_number',
  phone_extension: 'u.phone_extension',
});
