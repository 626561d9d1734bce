import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import { fragment, type Sql } from '../../../platform/database/database.ts';
import type { Attempt } from '../../../channels/attempt.ts';
import type { Delivery, DeliveryId } from '../delivery.ts';

/** The outcome of a delivery. */
export interface Outcome {
  readonly delivery: Delivery;
  readonly epoch: number;
  readonly at: Date;
  /** The new state. `held`: the webhook is disabled, or about to be. */
  readonly state: 'delivered' | 'retrying' | 'exhausted' | 'discarded' | 'held';
  /** Time until the retry, counted from now; `null`: there is none. */
  readonly delayMs: number | null;
  readonly parked: boolean;
  /** `null`: there was no attempt. */
  readonly attempt: Attempt | null;
  /** Why there was no attempt; shown in the delivery log. */
  readonly note: string | null;
}

/** Moves deliveries to the current destination of their webhook; returns these destinations. */
export async function moveToWebhookDestination(
  sql: Sql,
  ids: readonly DeliveryId[],
): Promise<readonly DestinationId[]> {
  const rows = await sql<{ id: DestinationId }[]>`
    UPDATE deliveries d
       SET destination_id = w.destination_id
      FROM webhooks w
     WHERE d.id = ANY(${[...ids]}::uuid[]) AND w.id = d.webhook_id
    RETURNING d.destination_id AS id`;
  return rows.map(({ id }) => id);
}

/**
 * Writes the outcomes of deliveries: finished ones are deleted, others delayed, and each attempt is logged. Nothing is written for
 * a destination whose lease another process has by now; the lock keeps our leases from being taken meanwhile. Returns the
 * destinations that are still ours.
 *
 * Idempotent, because outcomes are written again if it is unknown whether they were committed. `attempts` of a row is at most what was
 * read with the delivery (less if the delivery was held and recovered since), and more only after its outcome was written.
 */
export async function writeOutcomes(
  sql: Sql,
  owner: string,
  outcomes: readonly Outcome[],
): Promise<Set<DestinationId>> {
  const epochs = new Map(outcomes.map(({ delivery, epoch }) => [delivery.destinationId, epoch]));
  const places = new Map([...epochs.keys()].map((id, index) => [id, index + 1]));
  const sorted = outcomes.toSorted(byId);
  const column = (valueOf: (outcome: Outcome) => ArrayElement): string => arrayLiteral(sorted, valueOf);
  const ours = await sql<{ id: DestinationId }[]>`
    WITH ours AS (
           SELECT d.id, h.place
             FROM destinations d
             JOIN unnest(${[...epochs.keys()]}::uuid[], ${[...epochs.values()]}::bigint[])
                    WITH ORDINALITY AS h (id, epoch, place)
               ON d.id = h.id AND d.epoch = h.epoch
            WHERE d.owner = ${owner}
            ORDER BY d.id
              FOR SHARE OF d),
         outcomes AS (
           SELECT o.*, ours.id AS destination_id, to_timestamp(o.at_ms / 1000) AS at
             FROM unnest(${column(({ delivery }) => delivery.id)}::text::uuid[],
                         -- The index of the destination, which is shorter than its id.
                         ${column(({ delivery }) => places.get(delivery.destinationId) ?? null)}::text::integer[],
                         ${column(({ at }) => at.getTime())}::text::float8[],
                         ${column(({ state }) => state)}::text::text[],
                         ${column(({ state }) => isFinal(state))}::text::boolean[],
                         ${column(({ delivery }) => delivery.attempts)}::text::integer[],
                         ${column(({ delayMs }) => delayMs)}::text::float8[],
                         ${column(({ parked }) => parked)}::text::boolean[],
                         ${column(({ attempt }) => attempt?.durationMs ?? null)}::text::integer[],
                         ${column(({ attempt }) => attempt?.status ?? null)}::text::integer[],
                         ${column(({ attempt }) => quoted(attempt?.answer ?? null))}::text::text[],
                         ${column(({ attempt, note }) => quoted(storableError(attempt?.error ?? note)))}::text::text[])
                    AS o (id, place, at_ms, state, is_final, attempts_before, delay_ms, parked, duration_ms, status,
                          answer, error)
             JOIN ours ON ours.place = o.place),
         done AS (
           DELETE FROM deliveries d
            USING outcomes o
            WHERE d.id = o.id AND d.destination_id = o.destination_id AND o.is_final
           RETURNING ${logged(sql)}),
         delayed AS (
           UPDATE deliveries d
              SET state = o.state, attempts = CASE o.state WHEN 'held' THEN 0 ELSE attempts + 1 END,
                  parked = o.state <> 'held' AND (d.parked OR o.parked),
                  due_at = now() + make_interval(secs => o.delay_ms / 1000)
             FROM outcomes o
            WHERE d.id = o.id AND d.destination_id = o.destination_id AND NOT o.is_final AND d.state <> 'held'
              -- Otherwise this outcome was written before, and its commit was not answered.
              AND d.attempts <= o.attempts_before
           RETURNING ${logged(sql)}),
         logged AS (
           INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id,
                                     event_seq, event_xid, occurred_at, event_type, created_at, body, state, final,
                                     duration_ms, status, answer, error)
           SELECT * FROM done
           UNION ALL
           SELECT * FROM delayed WHERE duration_ms IS NOT NULL)
    SELECT id FROM ours`;
  return new Set(ours.map(({ id }) => id));
}

/** The columns of the log, returned by DELETE and UPDATE: joining them again would cost more than everything else. */
const logged = fragment(
  (sql) => sql`
    o.at, d.id, d.account_id, d.webhook_id, d.destination_id, d.engagement_id, d.event_id, d.event_seq, d.event_xid,
    d.occurred_at, d.event_type, d.created_at, d.body, o.state, o.is_final, o.duration_ms, o.status, o.answer, o.error`,
);

/** Rows are locked in the order of their ids, so that two statements cannot deadlock. */
function byId({ delivery: a }: Outcome, { delivery: b }: Outcome): number {
  return a.id < b.id ? -1 : 1;
}

function isFinal(state: Outcome['state']): boolean {
  return state === 'delivered' || state === 'exhausted' || state === 'discarded';
}

const maxErrorLength = 1_000;

/** Errors may contain foreign text, such as names in a certificate. PostgreSQL does not accept every string. */
function storableError(error: string | null): string | null {
  return error?.slice(0, maxErrorLength).toWellFormed().replaceAll('\0', '\uFFFD') ?? null;
}

type ArrayElement = string | number | boolean | null;

/**
 * A column of the outcomes as an array of PostgreSQL, which it reads faster than JSON. The driver would escape every element;
 * here only `quoted` ones are.
 */
function arrayLiteral(outcomes: readonly Outcome[], valueOf: (outcome: Outcome) => ArrayElement): string {
  let elements = '';
  for (const outcome of outcomes) elements += `,${valueOf(outcome) ?? 'NULL'}`;
  return `{${elements.slice(1)}}`;
}

/** An element that may contain any character. */
function quoted(text: string | null): string | null {
  return text === null ? null : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
