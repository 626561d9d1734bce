import Type from 'typebox';
import { insertEvents } from '../events/append.ts';
import { objectSql } from '../events/payload-sql.ts';
import { piece } from '../platform/database.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../platform/schema.ts';
import { phoneNumber } from './notes.ts';

/** What is asked for, and what clients of this family say of a call by phone. The latter is kept and shown, and decides nothing. */
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
  target: Type.Unsafe<'visitor' | 'operator'>({ ...oneOf(['visitor', 'operator']), description: 'Who is asked' }),
  state: oneOf(['pending', 'accepted', 'declined', 'canceled'] as const),
  created_at: timestamp,
  updated_at: timestamp,
  ...callFields,
});

/** How a media upgrade stands: the interface document has no event for it. */
export const upgradeState = { type: 'media_upgrade_request.state', schema: upgradeOutput } as const;

/** Appends the states of media upgrades that the statement has changed in its part `upgraded`. */
export const appendUpgradeStates = piece((sql) =>
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
