import { maxCountedDeliveries } from '@usher/contract/limits';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { LastAttempt, Step } from './stats.ts';

/** Log rows that are scanned of each kind, newest first. 100,000 took 0.8 s on two busy cores. */
const maxScanned = 200_000;

interface Span {
  readonly from: Date;
  readonly to: Date;
  readonly intervalMs: number;
}

interface CountedStep extends Omit<Step, 'at'> {
  readonly step: number;
}

interface Counted {
  readonly steps: CountedStep[];
  readonly last: NonNullable<LastAttempt> | null;
  readonly complete: boolean;
}

interface StoredCount {
  readonly steps: CountedStep[];
  readonly last: (Omit<NonNullable<LastAttempt>, 'at'> & { readonly at: string }) | null;
  readonly complete: boolean;
}

/**
 * Counts the attempts of the webhook in the time range. Final rows are found by delivery_log_by_webhook, which orders them by
 * event, so whole days are scanned. The other rows are found by delivery_log_passed.
 */
export async function countAttempts(
  sql: Sql,
  webhookId: WebhookId,
  { from, to, intervalMs }: Span,
  limit = maxScanned,
): Promise<Counted> {
  const [row] = await sql<StoredCount[]>`
    WITH final_rows AS MATERIALIZED (
           SELECT at, state, status, error, duration_ms
             FROM delivery_log
            WHERE webhook_id = ${webhookId} AND final AND at >= ${dayOf(from)} AND at < ${to}
            ORDER BY event_seq DESC
            LIMIT ${limit}),
         passed AS MATERIALIZED (
           SELECT at, state, status, error, duration_ms
             FROM delivery_log
            WHERE webhook_id = ${webhookId} AND NOT final AND duration_ms IS NOT NULL AND at >= ${from} AND at < ${to}
            ORDER BY at DESC
            LIMIT ${limit}),
         attempts AS MATERIALIZED (
           SELECT * FROM final_rows WHERE at >= ${from} AND duration_ms IS NOT NULL
            UNION ALL
           SELECT * FROM passed),
         counted AS (
           SELECT floor(extract(epoch FROM at - ${from}::timestamptz) * 1000 / ${intervalMs}::float8)::integer AS step,
                  count(*) FILTER (WHERE state = 'delivered')::integer AS delivered,
                  count(*) FILTER (WHERE state IN ('retrying', 'held'))::integer AS failed,
                  count(*) FILTER (WHERE state IN ('exhausted', 'discarded'))::integer AS given_up,
                  percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS median_ms,
                  percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
             FROM attempts
            GROUP BY step)
    SELECT coalesce((SELECT json_agg(counted) FROM counted), '[]') AS steps,
           (SELECT row_to_json(newest)
              FROM (SELECT at, state, status, error FROM attempts ORDER BY at DESC LIMIT 1) AS newest) AS last,
           (SELECT count(*) FROM final_rows) < ${limit} AND (SELECT count(*) FROM passed) < ${limit} AS complete`;
  if (row === undefined) throw new Error('counting gave no row');
  const { steps, last, complete } = row;
  return { steps, complete, last: last === null ? null : { ...last, at: new Date(last.at) } };
}

/** The beginning of the day in UTC, where a partition of the log begins. */
function dayOf(at: Date): Date {
  const day = new Date(at);
  day.setUTCHours(0, 0, 0, 0);
  return day;
}

export interface WaitingCounts {
  readonly pending: number;
  readonly retrying: number;
  readonly held: number;
}

/** The current backlog of the webhook. Served by deliveries_fresh and deliveries_set_aside. */
export async function countWaiting(
  sql: Sql,
  webhook: { readonly id: WebhookId; readonly destination_id: DestinationId },
): Promise<WaitingCounts> {
  const [row] = await sql<WaitingCounts[]>`
    WITH fresh AS (
           SELECT webhook_id, state
             FROM deliveries
            WHERE destination_id = ${webhook.destination_id} AND state = 'pending' AND due_at IS NULL
            LIMIT ${maxCountedDeliveries}),
         set_aside AS (
           SELECT webhook_id, state
             FROM deliveries
            WHERE webhook_id = ${webhook.id} AND (state <> 'pending' OR due_at IS NOT NULL)
            LIMIT ${maxCountedDeliveries})
    SELECT count(*) FILTER (WHERE state = 'pending')::integer AS pending,
           count(*) FILTER (WHERE state = 'retrying')::integer AS retrying,
           count(*) FILTER (WHERE state = 'held')::integer AS held
      FROM (SELECT * FROM fresh WHERE webhook_id = ${webhook.id} UNION ALL SELECT * FROM set_aside) AS waiting`;
  if (row === undefined) throw new Error('counting gave no row');
  return row;
}
