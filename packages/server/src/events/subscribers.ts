import type { Piece, Sql } from '../platform/database.ts';
import type { EventType } from './catalogue.ts';

/** Which webhooks subscribe what: the conditions that statements share. They call the webhook `w`. */

/** The event that has two names is in the log under the first; webhooks may subscribe either (D8.3). */
const status: EventType = 'engagement.chat.message_status';
export const otherStatus: EventType = 'engagement.chat.message.status';

/** Types as the log names them, of types as webhooks subscribe them. */
export function loggedTypes(events: readonly EventType[]): EventType[] {
  return [...new Set(events.map((type) => (type === otherStatus ? status : type)))];
}

/** A registered webhook covers the site. Triggers keep `covers` true when roles change (0024_webhook_coverage.sql). */
export function isCovered(sql: Sql, siteId: Piece): Piece {
  return sql`(w.covers IS NULL OR ${siteId} = ANY(w.covers))`;
}

/**
 * Whoever attached the webhook may know of the site. A visitor may, of their own engagement; an operator while they have a
 * role there, as if they read it themselves.
 */
export function isAttachersSite(sql: Sql, siteId: Piece): Piece {
  return sql`(w.attached_by IS NULL
            OR EXISTS (SELECT 1
                         FROM operator_assignments a
                         JOIN operators o ON o.id = a.operator_id AND o.enabled
                        WHERE a.operator_id = w.attached_by AND a.site_id = ${siteId}))`;
}

/** The webhook, registered or attached, is sent events of the site now. */
export function reachesSite(sql: Sql, siteId: () => Piece): Piece {
  return sql`${isCovered(sql, siteId())} AND ${isAttachersSite(sql, siteId())}`;
}

/** An enabled webhook subscribes events of the type in the engagement `e`. For types that are not kept unless one does. */
export function hasSubscriber(sql: Sql, type: EventType): Piece {
  return sql`EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.account_id = e.account_id AND w.side IS NULL AND w.deleted_at IS NULL AND w.enabled
                AND ${type} = ANY(w.hears) AND ${isCovered(sql, sql`e.site_id`)})
           OR EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.id = ANY(e.heard_by) AND w.enabled AND ${type} = ANY(w.hears)
                AND ${isAttachersSite(sql, sql`e.site_id`)})`;
}
