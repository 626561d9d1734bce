import type { Sql } from '../platform/database.ts';

/** As a GET answers it. */
const instant = (sql: Sql, at: ReturnType<Sql>) =>
  sql`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * How media upgrades stand now, for the live feed alone: the interface has no event for it, so no webhook is sent it. To be
 * put into a statement that has changed them and calls them `upgraded`.
 */
export function toldUpgrades(sql: Sql) {
  return sql`
    INSERT INTO events (account_id, id, type, site_id, ticket_id, request_id, engagement_id, visitor_id, operator_id,
                        occurred_at, payload)
    SELECT u.account_id, gen_random_uuid(), 'media_upgrade_request.state', e.site_id, e.ticket_id, e.request_id, e.id,
           e.visitor_id, e.operator_id, u.updated_at,
           json_build_object('id', u.id, 'engagement_id', u.engagement_id, 'sub_engagement_id', u.sub_engagement_id,
                             'audio', u.audio, 'video', u.video, 'target', u.target, 'state', u.state,
                             'created_at', ${instant(sql, sql`u.created_at`)}, 'updated_at', ${instant(sql, sql`u.updated_at`)},
                             'audio_type', u.audio_type, 'phone_number', u.phone_number,
                             'phone_extension', u.phone_extension)
      FROM upgraded u
      JOIN engagements e ON e.id = u.engagement_id`;
}
