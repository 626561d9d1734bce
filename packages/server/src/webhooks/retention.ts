import { batchSize, inBatches, preferIndexes, type ShouldContinue } from '../platform/database/batches.ts';
import { deliveryLog, dropDays, type Retention } from '../platform/database/daily-logs.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';

/**
 * Removes what is older than the retention: whole days of the delivery log; waiting deliveries whose events are gone; then
 * recoveries, webhooks and destinations that nothing references any more. Every process may run this at any time.
 */
export async function dropOldWebhooks(sql: Sql, retention: Retention, shouldContinue: ShouldContinue): Promise<void> {
  await dropDays(sql, deliveryLog, retention);
  for (const drop of [discardExpired, dropRecoveries])
    await inBatches(
      async () => (await byIndex(sql, async (own) => drop(own, retention))) === batchSize,
      shouldContinue,
    );
  for (const drop of [dropDeleted, dropAttached, dropDestinations])
    await scanAndDrop(async (after) => byIndex(sql, async (own) => drop(own, retention, after)), shouldContinue);
}

async function byIndex<T>(pool: Sql, run: (sql: Sql) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (sql) => {
    await preferIndexes(sql);
    return run(sql);
  });
}

interface ScanCursor {
  readonly at: Date;
  readonly id: string;
}

const start: ScanCursor = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** `drop` returns the last row it has scanned, dropped or not, so that rows that stay do not block the scan; `null`: no more rows. */
async function scanAndDrop(
  drop: (after: ScanCursor) => Promise<ScanCursor | null>,
  shouldContinue: ShouldContinue,
): Promise<void> {
  let after = start;
  await inBatches(async () => {
    const last = await drop(after);
    after = last ?? after;
    return last !== null;
  }, shouldContinue);
}

/** Midnight (UTC), because the logs are dropped by whole days. */
const keptSince = (sql: Sql, { now, days }: Retention) => sql`
  ((${now}::timestamptz AT TIME ZONE 'UTC')::date - ${days}::integer)::timestamp AT TIME ZONE 'UTC'`;

/** The smallest id that a delivery created at that time may have. */
const smallestId = (sql: Sql, retention: Retention) => sql`
  (lpad(to_hex((extract(epoch FROM ${keptSince(sql, retention)}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/**
 * Discards waiting deliveries of expired events. Deliveries that are due soon at a leased destination are left to the
 * dispatcher: it may be sending them now, and discards those without an event itself.
 */
async function discardExpired(sql: Sql, retention: Retention): Promise<number> {
  // Served by the primary key, as ids begin with the time.
  const rows = await sql`
    WITH expired AS (
           SELECT d.id
             FROM deliveries d
            WHERE d.id < ${smallestId(sql, retention)} AND d.occurred_at < ${keptSince(sql, retention)}
              AND (d.state = 'held' OR d.due_at > now() + interval '1 minute'
                   OR NOT EXISTS (SELECT FROM destinations t
                                   WHERE t.id = d.destination_id AND t.leased_until > now() - interval '1 minute'))
            ORDER BY d.id
            LIMIT ${batchSize}
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
           event_type, created_at, 'discarded', true, 'The event is older than the retention period.', body
      FROM dropped
    RETURNING delivery_id`;
  return rows.length;
}

async function dropRecoveries(sql: Sql, retention: Retention): Promise<number> {
  // Served by webhook_recoveries_ended.
  const rows = await sql`
    DELETE FROM webhook_recoveries
     WHERE id = ANY(ARRAY(SELECT id FROM webhook_recoveries
                           WHERE state <> 'running' AND finished_at < ${keptSince(sql, retention)}
                           LIMIT ${batchSize}))
    RETURNING id`;
  return rows.length;
}

/** Whether the webhook `w` has waiting deliveries or a log: both are found by the webhook. */
const hasDeliveries = (sql: Sql) => sql`
  (EXISTS (SELECT FROM deliveries d WHERE d.webhook_id = w.id AND (d.state <> 'pending' OR d.due_at IS NOT NULL))
   OR EXISTS (SELECT FROM deliveries d
               WHERE d.destination_id = w.destination_id AND d.state = 'pending' AND d.due_at IS NULL AND d.webhook_id = w.id)
   OR EXISTS (SELECT FROM delivery_log l WHERE l.webhook_id = w.id AND l.final))`;

/** Drops webhooks that were deleted before the retention. By then their log has usually been deleted. */
async function dropDeleted(sql: Sql, retention: Retention, after: ScanCursor): Promise<ScanCursor | null> {
  // Served by webhooks_deleted.
  const [last] = await sql<ScanCursor[]>`
    WITH scanned AS MATERIALIZED (
           SELECT id, destination_id, deleted_at
             FROM webhooks
            WHERE deleted_at < ${keptSince(sql, retention)} AND side IS NULL
              AND (deleted_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
            ORDER BY deleted_at, id
            LIMIT ${batchSize}),
         dropped AS (
           DELETE FROM webhooks WHERE id = ANY(ARRAY(SELECT w.id FROM scanned w WHERE NOT ${hasDeliveries(sql)})))
    SELECT deleted_at AS at, id FROM scanned ORDER BY deleted_at DESC, id DESC LIMIT 1`;
  return last ?? null;
}

/**
 * Drops attached webhooks that were last attached before the retention and that nothing references. `attached_at` is renewed
 * daily, hence the additional day. A webhook that is attached right now is either renewed first or found to be gone: see
 * attach-webhooks.ts. Only lasting requests are pending for so long: other requests last a day at most (see limits.test.ts).
 */
async function dropAttached(sql: Sql, retention: Retention, after: ScanCursor): Promise<ScanCursor | null> {
  const old = sql`${keptSince(sql, retention)} - interval '1 day'`;
  // Served by webhooks_attached_by_age, queue_tickets_active, engagement_requests_by_phone and active_engagements.
  const [last] = await sql<ScanCursor[]>`
    WITH scanned AS MATERIALIZED (
           SELECT id, account_id, destination_id, attached_at
             FROM webhooks
            WHERE side IS NOT NULL AND attached_at < ${old}
              AND (attached_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
            ORDER BY attached_at, id
            LIMIT ${batchSize}),
         accounts_of AS MATERIALIZED (SELECT DISTINCT account_id FROM scanned),
         referenced AS MATERIALIZED (
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
              AND id = ANY(ARRAY(SELECT w.id FROM scanned w
                                  WHERE w.id NOT IN (SELECT id FROM referenced) AND NOT ${hasDeliveries(sql)})))
    SELECT attached_at AS at, id FROM scanned ORDER BY attached_at DESC, id DESC LIMIT 1`;
  return last ?? null;
}

/** Drops destinations without webhooks and without pending deliveries. Held deliveries find a destination by their webhook. */
async function dropDestinations(sql: Sql, { now }: Retention, after: ScanCursor): Promise<ScanCursor | null> {
  const old = sql`${now}::timestamptz - interval '2 days'`;
  // Served by destinations_by_age, webhooks_by_destination, deliveries_fresh and deliveries_due.
  const [last] = await sql<ScanCursor[]>`
    WITH scanned AS MATERIALIZED (
           SELECT id, wanted_at
             FROM destinations
            WHERE wanted_at < ${old} AND (wanted_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
            ORDER BY wanted_at, id
            LIMIT ${batchSize}),
         dropped AS (
           DELETE FROM destinations
            WHERE wanted_at < ${old} AND leased_until < now()
              AND id = ANY(ARRAY(
                    SELECT t.id FROM scanned t
                     WHERE NOT EXISTS (SELECT FROM webhooks w WHERE w.destination_id = t.id)
                       AND NOT EXISTS (SELECT FROM deliveries d
                                        WHERE d.destination_id = t.id AND d.state = 'pending' AND d.due_at IS NULL)
                       AND NOT EXISTS (SELECT FROM deliveries d
                                        WHERE d.destination_id = t.id AND d.due_at IS NOT NULL))))
    SELECT wanted_at AS at, id FROM scanned ORDER BY wanted_at DESC, id DESC LIMIT 1`;
  return last ?? null;
}
