import { piece, type Piece, type Sql } from '../platform/database.ts';
import type { EventType } from './catalogue.ts';

/**
 * Whoever writes an event also writes, in the same statement, who is to be sent it. The event is inserted by a part of the
 * statement called `told`, which returns `toldColumns`; `deliveriesOf` goes on from there.
 */
export const toldColumns = piece((sql) => sql`account_id, id, seq, xid, type, site_id, engagement_id, occurred_at`);

/** How the log calls the event that has two names (D8.3). */
const status: EventType = 'engagement.chat.message_status';
const statusAsListed: EventType = 'engagement.chat.message.status';

/** Types as events are called in the log, of types as webhooks ask for them. */
export function heardTypes(events: readonly EventType[]): EventType[] {
  return [...new Set(events.map((type) => (type === statusAsListed ? status : type)))];
}

const columns = piece(
  (sql) => sql`
    account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid, occurred_at, event_type, state`,
);

/** A delivery of the event `t` by the webhook `w`: in the spelling it asked for, and held while it is disabled. */
const delivery = piece(
  (sql) => sql`
    t.account_id, w.id, w.destination_id, CASE w.ordering WHEN 'engagement' THEN t.engagement_id END, t.id, t.seq, t.xid,
    t.occurred_at,
    CASE WHEN t.type = ANY(w.events) THEN t.type ELSE 'engagement.chat.message.status' END,
    CASE WHEN w.enabled THEN 'pending' ELSE 'held' END`,
);

/** `covers` are the sites a registered webhook hears of; triggers keep it true when roles change (0024_webhook_coverage.sql). */
function isCovered(sql: Sql, siteId: Piece): Piece {
  return sql`(w.covers IS NULL OR ${siteId} = ANY(w.covers))`;
}

/** Whether the webhook `w`, registered or attached, hears of the site now. */
export function hearsOf(sql: Sql, siteId: () => Piece): Piece {
  return sql`${isCovered(sql, siteId())} AND ${isBringersSite(sql, siteId())}`;
}

const toRegistered = piece(
  (sql) => sql`
    SELECT ${delivery(sql)}
      FROM told t
      JOIN webhooks w ON w.account_id = t.account_id AND w.side IS NULL AND w.deleted_at IS NULL
     WHERE t.type = ANY(w.hears) AND ${isCovered(sql, sql`t.site_id`)}`,
);

/** Of an account that nothing is attached in: what is registered hears of it. */
export const deliveriesToRegistered = piece(
  (sql) => sql`INSERT INTO deliveries (${columns(sql)}) ${toRegistered(sql)}`,
);

/**
 * Also those that came with the ticket or request (D8.1). `hearers` is a relation of `heard_by`, ids of webhooks, and
 * `sender`, who sent the message the event is of; it is joined to the event `t` by what follows. A webhook hears the messages
 * of the side that attached it, of the other side, or of both, as its `messages` says (D8.2). With `own` and `other` it hears
 * the status of its own side's messages. What the system says to the operator does not go to the visitor's webhooks.
 */
export function deliveriesOf(sql: Sql, hearers: Piece): Piece {
  return sql`
    INSERT INTO deliveries (${columns(sql)})
    ${toRegistered(sql)}
    UNION ALL
    SELECT ${delivery(sql)}
      FROM told t
      JOIN ${hearers}
      JOIN webhooks w ON w.id = ANY(h.heard_by)
     WHERE w.account_id = t.account_id AND w.side IS NOT NULL AND t.type = ANY(w.hears)
       AND CASE t.type
             WHEN 'engagement.chat.system_message' THEN w.side = 'operator'
             WHEN 'engagement.chat.message' THEN
               CASE w.messages WHEN 'own' THEN w.side = h.sender WHEN 'other' THEN w.side <> h.sender ELSE true END
             WHEN 'engagement.chat.message_status' THEN w.messages = 'all' OR w.side = h.sender
             ELSE true
           END
       AND ${isBringersSite(sql, sql`t.site_id`)}`;
}

/**
 * Of an attached webhook `w`: whoever brought it may hear of the site. A visitor may, of their own engagement; an operator while
 * they have a role there, as if they read it themselves.
 */
function isBringersSite(sql: Sql, siteId: Piece): Piece {
  return sql`(w.attached_by IS NULL
            OR EXISTS (SELECT 1
                         FROM operator_assignments a
                         JOIN operators o ON o.id = a.operator_id AND o.enabled
                        WHERE a.operator_id = w.attached_by AND a.site_id = ${siteId}))`;
}

/** Whether an enabled webhook hears such events of the engagement `e`: few do of those that are not worth keeping. */
export function isHeard(sql: Sql, type: EventType): Piece {
  return sql`EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.account_id = e.account_id AND w.side IS NULL AND w.deleted_at IS NULL AND w.enabled
                AND ${type} = ANY(w.hears) AND ${isCovered(sql, sql`e.site_id`)})
           OR EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.id = ANY(e.heard_by) AND w.enabled AND ${type} = ANY(w.hears)
                AND ${isBringersSite(sql, sql`e.site_id`)})`;
}
