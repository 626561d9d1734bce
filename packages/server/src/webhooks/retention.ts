import { deliveryLog, dropDays, type Retention } from '../platform/daily-logs.ts';
import type { Sql } from '../platform/database.ts';

/** Rows that one statement looks at, and drops at most. */
const inBatch = 1_000;
/** Batches of one sweep; the rest goes with the next. */
const mostBatches = 100;

/**
 * Removes what is older than what is kept, while others write: the log of deliveries by the day, as the events; deliveries
 * that still wait for an event which is gone; and then what nothing names any more. Every process may, at any time.
 */
export async function dropOldWebhooks(sql: Sql, kept: Retention): Promise<void> {
  await dropDays(sql, deliveryLog, kept);
  await inBatches(async () => discardExpired(sql, kept));
  await inBatches(async () => dropRecoveries(sql, kept));
  await inBatches(async () => dropDeleted(sql, kept));
  await dropInTurn(async (after) => dropAttached(sql, kept, after));
  await dropInTurn(async (after) => dropDestinations(sql, kept, after));
}

/** `drop` answers how many it has dropped: fewer than a batch means that there are no more. */
async function inBatches(drop: () => Promise<number>): Promise<void> {
  for (let batch = 0; batch < mostBatches; batch += 1) if ((await drop()) < inBatch) return;
}

interface Passed {
  readonly at: Date;
  readonly id: string;
}

const start: Passed = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** `drop` answers the last it has looked at, dropped or not, so that those which stay hold up nothing; `null`: there are no more. */
async function dropInTurn(drop: (after: Passed) => Promise<Passed | null>): Promise<void> {
  let after: Passed | null = start;
  for (let batch = 0; batch < mostBatches && after !== null; batch += 1) after = await drop(after);
}

/** Midnight (UTC), as the days of the logs are dropped. */
const keptSince = (sql: Sql, { now, days }: Retention) => sql`
  ((${now}::timestamptz AT TIME ZONE 'UTC')::date - ${days}::integer)::timestamp AT TIME ZONE 'UTC'`;

/** The least id that a delivery made then may have. */
const leastId = (sql: Sql, kept: Retention) => sql`
  (lpad(to_hex((extract(epoch FROM ${keptSince(sql, kept)}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/**
 * Not those that a dispatcher may be sending at this moment, whose outcome would come to nothing: without its event it
 * discards them itself. That is what is due soon at a destination which somebody has the lease of.
 */
async function discardExpired(sql: Sql, kept: Retention): Promise<number> {
  // Served by the primary key, as ids begin with the time.
  const rows = await sql`
    WITH expired AS (
           SELECT d.id
             FROM deliveries d
            WHERE d.id < ${leastId(sql, kept)} AND d.occurred_at < ${keptSince(sql, kept)}
              AND (d.state = 'held' OR d.due_at > now() + interval '1 minute'
                   OR NOT EXISTS (SELECT FROM destinations t
                                   WHERE t.id = d.destination_id AND t.leased_until > now() - interval '1 minute'))
            ORDER BY d.id
            LIMIT ${inBatch}
              FOR UPDATE SKIP LOCKED),
         dropped AS (
           DELETE FROM deliveries d
            USING expired
            WHERE d.id = expired.id
           RETURNING d.id, d.account_id, d.webhook_id, d.destination_id, d.engagement_id, d.event_id, d.event_seq,
                     d.event_xid, d.occurred_at, d.event_type, d.created_at, d.body)
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, error, body)
    SELECT now(), id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid, occurred_at,
           event_type, created_at, 'discarded', true, 'The event is older than what is kept.', body
      FROM dropped
    RETURNING delivery_id`;
  return rows.length;
}

async function dropRecoveries(sql: Sql, kept: Retention): Promise<number> {
  // Served by webhook_recoveries_ended.
  const rows = await sql`
    DELETE FROM webhook_recoveries
     WHERE id = ANY(ARRAY(SELECT id FROM webhook_recoveries
                           WHERE state <> 'running' AND finished_at < ${keptSince(sql, kept)}
                           LIMIT ${inBatch}))
    RETURNING id`;
  return rows.length;
}

/** That something still waits for the webhook `w`, or has finished: whoever looks for that finds it by the webhook. */
const hasDeliveries = (sql: Sql) => sql`
  (EXISTS (SELECT FROM deliveries d WHERE d.webhook_id = w.id AND (d.state <> 'pending' OR d.due_at IS NOT NULL))
   OR EXISTS (SELECT FROM deliveries d
               WHERE d.destination_id = w.destination_id AND d.state = 'pending' AND d.due_at IS NULL AND d.webhook_id = w.id)
   OR EXISTS (SELECT FROM delivery_log l WHERE l.webhook_id = w.id AND l.final))`;

/** Registrations that were deleted long ago. Their log has gone by then, unless something was decided late. */
async function dropDeleted(sql: Sql, kept: Retention): Promise<number> {
  // Served by webhooks_deleted.
  const rows = await sql`
    DELETE FROM webhooks
     WHERE id = ANY(ARRAY(SELECT w.id FROM webhooks w
                           WHERE w.deleted_at < ${keptSince(sql, kept)} AND w.side IS NULL AND NOT ${hasDeliveries(sql)}
                           LIMIT ${inBatch}))
    RETURNING id`;
  return rows.length;
}

/**
 * Webhooks that nothing has brought along for longer than is kept, and a day, as that is noted to the day; and that nothing
 * names. One that is brought along at this moment is touched first, or found to be gone: see attach-webhooks.ts. Only lasting
 * requests are pending for so long: sites give a day at most (see limits.test.ts).
 */
async function dropAttached(sql: Sql, kept: Retention, after: Passed): Promise<Passed | null> {
  const old = sql`${keptSince(sql, kept)} - interval '1 day'`;
  // Served by webhooks_attached_by_age, queue_tickets_active, engagement_requests_by_phone and active_engagements.
  const [last] = await sql<Passed[]>`
    WITH looked AS MATERIALIZED (
           SELECT id, account_id, destination_id, attached_at
             FROM webhooks
            WHERE side IS NOT NULL AND attached_at < ${old}
              AND (attached_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
            ORDER BY attached_at, id
            LIMIT ${inBatch}),
         accounts_of AS MATERIALIZED (SELECT DISTINCT account_id FROM looked),
         named AS MATERIALIZED (
           SELECT json_array_elements_text(t.notes -> 'webhooks')::uuid AS id
             FROM accounts_of JOIN queue_tickets t USING (account_id)
            WHERE t.ended_at IS NULL
            UNION
           SELECT json_array_elements_text(r.notes -> 'webhooks')::uuid
             FROM accounts_of JOIN lasting_requests r USING (account_id)
            WHERE r.state = 'pending'
            UNION
           SELECT unnest(e.heard_by)
             FROM accounts_of JOIN active_engagements a USING (account_id) JOIN engagements e ON e.id = a.engagement_id),
         dropped AS (
           DELETE FROM webhooks
            WHERE attached_at < ${old}
              AND id = ANY(ARRAY(SELECT w.id FROM looked w
                                  WHERE w.id NOT IN (SELECT id FROM named) AND NOT ${hasDeliveries(sql)})))
    SELECT attached_at AS at, id FROM looked ORDER BY attached_at DESC, id DESC LIMIT 1`;
  return last ?? null;
}

/** Those that no webhook has, nobody is about to, and nothing is to be sent to. What is held finds its way by its webhook. */
async function dropDestinations(sql: Sql, { now }: Retention, after: Passed): Promise<Passed | null> {
  const old = sql`${now}::timestamptz - interval '2 days'`;
  // Served by destinations_by_age, webhooks_by_destination, deliveries_fresh and deliveries_due.
  const [last] = await sql<Passed[]>`
    WITH looked AS MATERIALIZED (
           SELECT id, wanted_at
             FROM destinations
            WHERE wanted_at < ${old} AND (wanted_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
            ORDER BY wanted_at, id
            LIMIT ${inBatch}),
         dropped AS (
           DELETE FROM destinations
            WHERE wanted_at < ${old} AND leased_until < now()
              AND id = ANY(ARRAY(
                    SELECT t.id FROM looked t
                     WHERE NOT EXISTS (SELECT FROM webhooks w WHERE w.destination_id = t.id)
                       AND NOT EXISTS (SELECT FROM deliveries d
                                        WHERE d.destination_id = t.id AND d.state = 'pending' AND d.due_at IS NULL)
                       AND NOT EXISTS (SELECT FROM deliveries d
                                        WHERE d.destination_id = t.id AND d.due_at IS NOT NULL))))
    SELECT wanted_at AS at, id FROM looked ORDER BY wanted_at DESC, id DESC LIMIT 1`;
  return last ?? null;
}
