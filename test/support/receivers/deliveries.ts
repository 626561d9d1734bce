import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { Json } from '../server.ts';
import type { ServerHandle, TestAccount } from '../world.ts';

export interface TestWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly destinationId: string;
}

interface WebhookFields {
  readonly siteIds?: readonly string[] | null;
  /** Attached to a ticket or request, and not registered. */
  readonly side?: 'visitor' | 'operator';
  readonly enabled?: boolean;
  readonly origin?: string;
}

/** Inserts a webhook as a registration or a ticket does; for the account's first site by default. */
export async function insertWebhook(
  { database: { sql } }: Pick<ServerHandle, 'database'>,
  account: TestAccount,
  { siteIds = [account.siteId], side, enabled = true, origin = `https://${randomUUID()}.example` }: WebhookFields = {},
): Promise<TestWebhook> {
  const id = randomUUID();
  const [row] = await sql<{ accountId: string; destinationId: string }[]>`
    WITH own AS (SELECT account_id FROM operators WHERE id = ${account.adminId}),
         destination AS (
           INSERT INTO destinations (id, account_id, origin) SELECT ${randomUUID()}, account_id, ${origin} FROM own
           RETURNING id, account_id)
    INSERT INTO webhooks (id, account_id, destination_id, side, digest, attached_at, url, method, headers, events, hears,
                          site_ids, enabled, disabled_because, disabled_at)
    SELECT ${id}, account_id, id, ${side ?? null}, ${side === undefined ? null : Buffer.from(id)},
           ${side === undefined ? null : sql`now()`}, ${`${origin}/hook`}, 'POST', '{}', '{engagement.start}',
           '{engagement.start}', ${side === undefined && siteIds !== null ? [...siteIds] : null}, ${enabled},
           ${enabled ? null : 'asked'}, ${enabled ? null : sql`now()`}
      FROM destination
    RETURNING account_id AS "accountId", destination_id AS "destinationId"`;
  if (row === undefined) throw new Error('the account has no admin');
  return { id, ...row };
}

/** The state of inserted deliveries. `fresh` deliveries are pending and due at once. */
type SeededState = 'fresh' | 'pending' | 'retrying' | 'held' | 'delivered' | 'exhausted' | 'discarded';

interface DeliveriesInput {
  readonly count: number;
  readonly type?: string;
  /** When the first event occurred. Each next event occurred a millisecond later. */
  readonly at?: Date;
  readonly engagementId?: string;
  readonly payload?: Json;
}

/**
 * Inserts events, and a delivery of each in the given state. Returns the ids of the deliveries in the order of the log. The
 * transaction ids are invented, five events each: events are found by it, and no real transaction writes thousands.
 */
export async function insertDeliveries(
  sql: Sql,
  { id: webhookId, accountId, destinationId }: TestWebhook,
  seeded: SeededState,
  { count, type = 'engagement.start', at = new Date(), engagementId, payload }: DeliveriesInput,
): Promise<string[]> {
  const isFinished = ['delivered', 'exhausted', 'discarded'].includes(seeded);
  const state = seeded === 'fresh' ? 'pending' : seeded;
  const due = { fresh: sql`NULL`, held: sql`NULL` }[seeded as string] ?? sql`now() + interval '1 hour'`;
  const rows = await sql<{ id: string }[]>`
    WITH appended AS (
           INSERT INTO events (account_id, xid, id, type, site_id, occurred_at, payload)
           SELECT ${accountId}, (3 + n / 5)::text::xid8, gen_random_uuid(), ${type}, ${siteOf(sql, webhookId)}, ${at}::timestamptz + n * interval '1 ms',
                  ${payload === undefined ? sql`json_build_object('event_type', ${type}::text, 'n', n)` : sql`${JSON.stringify(payload)}::text::json`}
             FROM generate_series(0, ${count - 1}) AS n
           RETURNING account_id, id, seq, xid, type, occurred_at),
         timed AS (SELECT ${timedId(sql)} AS delivery_id, appended.* FROM appended ORDER BY seq)
    ${
      isFinished
        ? sql`
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, duration_ms, status, answer, error)
    SELECT occurred_at + interval '1 second', delivery_id, account_id, ${webhookId}, ${destinationId},
           ${engagementId ?? null}::uuid, id, seq, xid, occurred_at, type, occurred_at, ${state}, true, 12,
           ${seeded === 'delivered' ? 200 : 500}::integer, 'answer', ${seeded === 'delivered' ? null : 'Answered 500'}::text
      FROM timed
    RETURNING delivery_id AS id`
        : sql`
    INSERT INTO deliveries (id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                            occurred_at, event_type, state, attempts, due_at, created_at)
    SELECT delivery_id, account_id, ${webhookId}, ${destinationId}, ${engagementId ?? null}::uuid, id, seq, xid,
           occurred_at, type, ${state}, ${seeded === 'retrying' ? 2 : 0}, ${due}, occurred_at
      FROM timed
    RETURNING id`
    }`;
  return rows.map(({ id }) => id);
}

/** A site that the webhook covers. */
function siteOf(sql: Sql, webhookId: string) {
  return sql`
    (SELECT coalesce(w.covers[1], (SELECT s.id FROM sites s WHERE s.account_id = w.account_id ORDER BY s.created_at LIMIT 1))
       FROM webhooks w WHERE w.id = ${webhookId})`;
}

/** A UUID of version 7 that begins with the time at which its event occurred. */
function timedId(sql: Sql) {
  return sql`
    (lpad(to_hex((extract(epoch FROM occurred_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
     || '8' || substr(md5(random()::text), 1, 15))::uuid`;
}

/** Moves a delivery to the log in one statement, as the dispatcher does after the last attempt. */
export async function finishDelivery(
  sql: Sql,
  id: string,
  state: 'delivered' | 'exhausted' = 'delivered',
): Promise<void> {
  await sql`
    WITH done AS (DELETE FROM deliveries WHERE id = ${id} RETURNING *)
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, duration_ms, status, body)
    SELECT clock_timestamp(), id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
           occurred_at, event_type, created_at, ${state}, true, 5, 200, body
      FROM done`;
}

/** Logs a failed attempt of a delivery. */
export async function insertFailedAttempt(
  sql: Sql,
  id: string,
  { at, status }: { at: Date; status: number },
): Promise<void> {
  await sql`
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, duration_ms, status, answer, error)
    SELECT ${at}, id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid, occurred_at,
           event_type, created_at, 'retrying', false, 7, ${status}, 'no', 'Answered'
      FROM deliveries WHERE id = ${id}`;
}

export interface WaitingRow {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly parked: boolean;
  readonly due_at: Date | null;
  readonly event_seq: number;
  readonly destination_id: string;
}

/** The waiting deliveries of the webhook, in the order of the log. */
export async function waitingDeliveries(sql: Sql, webhook: TestWebhook): Promise<WaitingRow[]> {
  return sql<WaitingRow[]>`
    SELECT id, state, attempts, parked, due_at, event_seq::float8 AS event_seq, destination_id
      FROM deliveries WHERE webhook_id = ${webhook.id} ORDER BY event_seq, id`;
}
