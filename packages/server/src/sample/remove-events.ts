import { batchSize, byIndex, inBatches } from '../platform/database/batches.ts';
import type { SqlFragment, Sql } from '../platform/database/database.ts';
import type { SampleRow } from './sample-data.ts';

export interface EventRemoval {
  readonly sql: Sql;
  readonly sample: SampleRow;
  /** Renews the lease. `false`: another process has it now. */
  readonly shouldContinue: () => Promise<boolean>;
}

/** The clock that wrote the events may be behind. */
const earlierBy = '1 hour';

/**
 * Rows in an order, a page at a time: each page begins after the last row of the one before, so that the rows of the user, which are
 * kept, are read once. All rows with the same number are on one page.
 */
async function inPages(
  { sql: pool, shouldContinue }: Pick<EventRemoval, 'sql' | 'shouldContinue'>,
  page: (sql: Sql, after: number) => Promise<readonly { readonly seq: number }[]>,
): Promise<boolean> {
  let after = -1;
  return inBatches(async () => {
    const rows = await byIndex(pool, async (sql) => page(sql, after));
    after = rows.at(-1)?.seq ?? after;
    return rows.length >= batchSize;
  }, shouldContinue);
}

/** Whether the event `e` is of the sample. */
const isSampleEvent = (sql: Sql, { sample }: EventRemoval): SqlFragment => sql`
  (e.site_id = ${sample.site_id}
   OR EXISTS (SELECT 1 FROM visitors v WHERE v.id = e.visitor_id AND v.site_id = ${sample.site_id}))`;

/** Whether the delivery `d`, of `deliveries` or of its log, is of the sample. */
const isSampleDelivery = (sql: Sql, removal: EventRemoval): SqlFragment => sql`
  (d.webhook_id IS NOT DISTINCT FROM ${removal.sample.webhook_id}::uuid
   OR EXISTS (SELECT 1 FROM events e
               WHERE e.account_id = ${removal.sample.account_id} AND e.xid = d.event_xid AND e.seq = d.event_seq
                 AND e.occurred_at = d.occurred_at AND ${isSampleEvent(sql, removal)}))`;

type DeliveriesOf = (sql: Sql, owner: string) => SqlFragment;

/** Served by deliveries_fresh, by the destination. */
const fresh: DeliveriesOf = (sql, id) => sql`
  SELECT d.id, d.event_seq::float8 AS seq, d.webhook_id, d.event_xid, d.event_seq, d.occurred_at
    FROM deliveries d
   WHERE d.destination_id = ${id} AND d.state = 'pending' AND d.due_at IS NULL`;

/** Served by deliveries_set_aside, by the webhook. */
const setAside: DeliveriesOf = (sql, id) => sql`
  SELECT d.id, d.event_seq::float8 AS seq, d.webhook_id, d.event_xid, d.event_seq, d.occurred_at
    FROM deliveries d
   WHERE d.webhook_id = ${id} AND (d.state <> 'pending' OR d.due_at IS NOT NULL)`;

/** Served by delivery_log_by_webhook. Each delivery that is no longer waiting has a final row. */
const finished: DeliveriesOf = (sql, id) => sql`
  SELECT d.delivery_id AS id, d.event_seq::float8 AS seq, d.webhook_id, d.event_xid, d.event_seq, d.occurred_at
    FROM delivery_log d
   WHERE d.webhook_id = ${id} AND d.final`;

/** Deletes the deliveries of the sample with their log. They are found by their events, which are deleted afterwards. */
export async function deleteDeliveries(removal: EventRemoval): Promise<boolean> {
  const { sql: pool, sample } = removal;
  const webhooks = await pool<{ id: string; destinationId: string }[]>`
    SELECT id, destination_id AS "destinationId" FROM webhooks WHERE account_id = ${sample.account_id}`;
  const destinations = [...new Set(webhooks.map(({ destinationId }) => destinationId))];
  for (const id of destinations) if (!(await deleteDeliveriesOf(removal, fresh, id))) return false;
  for (const { id } of webhooks)
    for (const deliveries of [setAside, finished])
      if (!(await deleteDeliveriesOf(removal, deliveries, id))) return false;
  return true;
}

async function deleteDeliveriesOf(removal: EventRemoval, deliveries: DeliveriesOf, owner: string): Promise<boolean> {
  return inPages(removal, async (sql, after) => {
    const rows = await sql<{ id: string; seq: number; isSample: boolean }[]>`
      SELECT d.id, d.seq, ${isSampleDelivery(sql, removal)} AS "isSample"
        FROM (${deliveries(sql, owner)} AND d.event_seq > ${after}
               ORDER BY d.event_seq
               FETCH FIRST ${batchSize} ROWS WITH TIES) AS d
       ORDER BY d.seq`;
    const ids = rows.filter(({ isSample }) => isSample).map(({ id }) => id);
    if (ids.length > 0) {
      // Served by delivery_log_by_delivery.
      await sql`DELETE FROM delivery_log WHERE delivery_id = ANY(${ids}::uuid[])`;
      await sql`DELETE FROM deliveries WHERE id = ANY(${ids}::uuid[])`;
    }
    return rows;
  });
}

/** Deletes the events of the sample. Reads the account's events since it was created, by events_in_order. */
export async function deleteEvents(removal: EventRemoval): Promise<boolean> {
  const { account_id: account, created_at: since } = removal.sample;
  return inPages(
    removal,
    async (sql, after) => sql<{ seq: number }[]>`
      WITH page AS MATERIALIZED (
             SELECT e.id, e.seq, e.occurred_at, ${isSampleEvent(sql, removal)} AS is_sample
               FROM (SELECT id, seq, occurred_at, site_id, visitor_id
                       FROM events
                      WHERE account_id = ${account} AND occurred_at >= ${since}::timestamptz - ${earlierBy}::interval
                        AND seq > ${after}
                      ORDER BY seq
                      FETCH FIRST ${batchSize} ROWS WITH TIES) AS e),
           deleted AS (
             DELETE FROM events e
              USING page
              WHERE page.is_sample
                AND e.account_id = ${account} AND e.seq = page.seq AND e.occurred_at = page.occurred_at AND e.id = page.id),
           secrets AS (
             DELETE FROM event_secrets WHERE event_id = ANY(ARRAY(SELECT id FROM page WHERE is_sample)))
      SELECT seq::float8 AS seq FROM page ORDER BY seq`,
  );
}
