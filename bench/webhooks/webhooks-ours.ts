import { setTimeout as sleep } from 'node:timers/promises';
import { destinationFor } from '../../packages/server/src/events/subscriptions/destination.ts';
import type { EventType } from '../../packages/server/src/events/catalogue.ts';
import { newSecret, purposeOfSecret } from '../../packages/server/src/channels/webhook-secret.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { newId, type AccountId } from '../../packages/server/src/platform/ids.ts';
import { wallMs } from '../measuring/clock.ts';
import { vacuumAndCheckpoint, withDatabase } from '../measuring/databases.ts';
import { temporaryFolder } from '../measuring/processes.ts';
import { startUsher } from '../measuring/usher.ts';
import { totalOf, type Contestant, type LoadedContestant } from './webhook-contest.ts';
import { messageEvent } from './webhook-events.ts';

/** Usher as a contestant: events in its log, a webhook that subscribes to them, and the server that delivers them. */

const eventType: EventType = 'engagement.chat.message';
/** The number of engagements, and so of lanes: events of one engagement are delivered one after the other. */
const engagements = 500;
const pollMs = 5;
const writeTimeoutMs = 30_000;

/** Registers a webhook for the first account, signed like those of the peers. Returns its id. */
export async function register(sql: Sql, url: string): Promise<string> {
  const [account] = await sql<{ id: AccountId }[]>`SELECT id FROM accounts LIMIT 1`;
  if (account === undefined) throw new Error('the first start made no account');
  const id = newId<string>();
  const seal = await new Sealer(sql).seal();
  const destinationId = await destinationFor(sql, account.id, url);
  await sql`
    INSERT INTO webhooks (id, account_id, destination_id, url, method, headers, events, hears, secret)
    VALUES (${id}, ${account.id}, ${destinationId}, ${url}, 'POST', '{}'::json, ${[eventType]}, ${[eventType]},
            ${seal(newSecret(), purposeOfSecret(id))})`;
  return id;
}

interface Prefill {
  readonly webhookId: string;
  readonly count: number;
  /** The events must not all be in one transaction, because the dispatcher finds an event by its transaction. */
  readonly eventsPerTransaction: number;
}

/** Inserts `count` message events, each with a pending delivery to the webhook. */
export async function prefill(sql: Sql, { webhookId, count, eventsPerTransaction }: Prefill): Promise<void> {
  const blank = '00000000-0000-4000-8000-000000000000';
  await sql`SET synchronous_commit = off`;
  await sql`
    CREATE OR REPLACE PROCEDURE pg_temp.prefill(hook uuid, amount integer, per_transaction integer, engagements integer,
                                                blank text, body text)
    LANGUAGE plpgsql AS $$
    BEGIN
      FOR nth IN 1 .. amount BY per_transaction LOOP
        WITH appended AS (
               INSERT INTO events (account_id, id, type, engagement_id, occurred_at, payload)
               SELECT w.account_id, e.id, w.hears[1], md5('engagement ' || e.n % engagements)::uuid, clock_timestamp(),
                      replace(body, blank, e.id::text)::json
                 FROM webhooks w,
                      (SELECT n, gen_random_uuid() AS id
                         FROM generate_series(nth, least(nth + per_transaction - 1, amount)) AS n) AS e
                WHERE w.id = hook
               RETURNING account_id, id, seq, xid, type, engagement_id, occurred_at)
        INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                                occurred_at, event_type, state)
        SELECT a.account_id, w.id, w.destination_id, a.engagement_id, a.id, a.seq, a.xid, a.occurred_at, a.type, 'pending'
          FROM appended a
          JOIN webhooks w ON w.id = hook;
        COMMIT;
      END LOOP;
    END $$`;
  const body = JSON.stringify(messageEvent(blank));
  await sql`CALL pg_temp.prefill(${webhookId}, ${count}, ${eventsPerTransaction}, ${engagements}, ${blank}, ${body})`;
}

/**
 * Registers a webhook with the backlog in a database of Usher, and lets the server deliver it. `openDatabase` returns the URL
 * of the database, which may have other rows already.
 */
export function ours(openDatabase: () => Promise<string>): Contestant {
  return async (scope, backlog) => {
    const databaseUrl = await openDatabase();
    const { webhookId, order } = await withDatabase(databaseUrl, async (sql) => {
      const id = await register(sql, backlog.target);
      await prefill(sql, { webhookId: id, count: totalOf(backlog), eventsPerTransaction: 1 });
      return { webhookId: id, order: await orderOf(sql, id) };
    });
    await vacuumAndCheckpoint(databaseUrl);
    return { ...loadedUsher(scope, { databaseUrl, webhookId }), order };
  };
}

/** Events of an engagement arrive in the order of the log. */
async function orderOf(sql: Sql, webhookId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; text: string }[]>`
    SELECT event_id AS id, engagement_id || ' ' || event_seq AS text FROM deliveries WHERE webhook_id = ${webhookId}`;
  return new Map(rows.map(({ id, text }) => [id, text]));
}

interface StoredBacklog {
  readonly databaseUrl: string;
  readonly webhookId: string;
}

/** The dispatcher is part of the server and begins to deliver when the server has started. */
function loadedUsher(scope: AsyncDisposableStack, { databaseUrl, webhookId }: StoredBacklog): LoadedContestant {
  let stop = async (): Promise<void> => undefined;
  return {
    async drain(arrived) {
      const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
      stop = async () => usher.stop();
      await arrived;
      return withDatabase(databaseUrl, async (sql) => waitForOutcomes(sql, webhookId));
    },
    stop: async () => stop(),
  };
}

/** Waits until the outcomes of the last deliveries are stored, after all events have arrived. */
async function waitForOutcomes(sql: Sql, webhookId: string): Promise<number> {
  const deadline = performance.now() + writeTimeoutMs;
  for (;;) {
    const left = await sql`SELECT 1 FROM deliveries WHERE webhook_id = ${webhookId} LIMIT 1`;
    if (left.length === 0) return wallMs();
    if (performance.now() > deadline) throw new Error('all events arrived, but some outcomes were not stored');
    await sleep(pollMs);
  }
}
