import { setTimeout as sleep } from 'node:timers/promises';
import { destinationFor } from '../packages/server/src/events/destination.ts';
import type { EventType } from '../packages/server/src/events/catalogue.ts';
import { newSecret, purposeOfSecret } from '../packages/server/src/webhooks/channels/webhook-secret.ts';
import { Sealer } from '../packages/server/src/identity/sealer.ts';
import type { Sql } from '../packages/server/src/platform/database.ts';
import { newId, type AccountId } from '../packages/server/src/platform/ids.ts';
import { wallMs } from './clock.ts';
import { settle, withDatabase } from './databases.ts';
import { temporaryFolder } from './processes.ts';
import { startUsher } from './usher.ts';
import { totalOf, type Contestant, type Ready } from './webhook-contest.ts';
import { messageEvent } from './webhook-events.ts';

/** Usher as a contestant: events in its log, a webhook that hears them, and the server itself to deliver them. */

const eventType: EventType = 'engagement.chat.message';
/** As many lanes as there are: events of one engagement go one after the other. */
const engagements = 500;
const pollMs = 5;
const writePatienceMs = 30_000;

/** Registers a webhook for the first account, signed like those of the peers. Answers its id. */
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
  /** Events of one transaction: an event is found by its transaction, so that they must not all be of one. */
  readonly together: number;
}

/** As if so many messages had just been sent: events, each with a delivery by the webhook. */
export async function prefill(sql: Sql, { webhookId, count, together }: Prefill): Promise<void> {
  const blank = '00000000-0000-4000-8000-000000000000';
  await sql`SET synchronous_commit = off`;
  await sql`
    CREATE OR REPLACE PROCEDURE pg_temp.prefill(hook uuid, amount integer, together integer, engagements integer,
                                                blank text, body text)
    LANGUAGE plpgsql AS $$
    BEGIN
      FOR nth IN 1 .. amount BY together LOOP
        WITH told AS (
               INSERT INTO events (account_id, id, type, engagement_id, occurred_at, payload)
               SELECT w.account_id, e.id, w.hears[1], md5('engagement ' || e.n % engagements)::uuid, clock_timestamp(),
                      replace(body, blank, e.id::text)::json
                 FROM webhooks w,
                      (SELECT n, gen_random_uuid() AS id
                         FROM generate_series(nth, least(nth + together - 1, amount)) AS n) AS e
                WHERE w.id = hook
               RETURNING account_id, id, seq, xid, type, engagement_id, occurred_at)
        INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                                occurred_at, event_type, state)
        SELECT t.account_id, w.id, w.destination_id, t.engagement_id, t.id, t.seq, t.xid, t.occurred_at, t.type, 'pending'
          FROM told t
          JOIN webhooks w ON w.id = hook;
        COMMIT;
      END LOOP;
    END $$`;
  const body = JSON.stringify(messageEvent(blank));
  await sql`CALL pg_temp.prefill(${webhookId}, ${count}, ${together}, ${engagements}, ${blank}, ${body})`;
}

/**
 * The server delivers what `place` has, a database of Usher's, beside a webhook for the backlog. What else is to be there is
 * for `place` to see to.
 */
export function ours(place: () => Promise<string>): Contestant {
  return async (scope, backlog) => {
    const databaseUrl = await place();
    const { webhookId, order } = await withDatabase(databaseUrl, async (sql) => {
      const id = await register(sql, backlog.target);
      await prefill(sql, { webhookId: id, count: totalOf(backlog), together: 1 });
      return { webhookId: id, order: await orderOf(sql, id) };
    });
    await settle(databaseUrl);
    return { ...drain(scope, { databaseUrl, webhookId }), order };
  };
}

/** Events of an engagement arrive in the order of the log. */
async function orderOf(sql: Sql, webhookId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; text: string }[]>`
    SELECT event_id AS id, engagement_id || ' ' || event_seq AS text FROM deliveries WHERE webhook_id = ${webhookId}`;
  return new Map(rows.map(({ id, text }) => [id, text]));
}

interface Place {
  readonly databaseUrl: string;
  readonly webhookId: string;
}

/** The dispatcher is part of the server: once that has started, it delivers by itself. */
function drain(scope: AsyncDisposableStack, { databaseUrl, webhookId }: Place): Ready {
  let stop = async (): Promise<void> => undefined;
  return {
    async drain(arrived) {
      const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
      stop = async () => usher.stop();
      await arrived;
      return withDatabase(databaseUrl, async (sql) => untilWritten(sql, webhookId));
    },
    stop: async () => stop(),
  };
}

/** Everything has arrived: what is left are the last outcomes. */
async function untilWritten(sql: Sql, webhookId: string): Promise<number> {
  const deadline = performance.now() + writePatienceMs;
  for (;;) {
    const left = await sql`SELECT 1 FROM deliveries WHERE webhook_id = ${webhookId} LIMIT 1`;
    if (left.length === 0) return wallMs();
    if (performance.now() > deadline) throw new Error('everything has arrived, but deliveries are left');
    await sleep(pollMs);
  }
}
