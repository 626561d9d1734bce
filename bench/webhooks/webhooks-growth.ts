import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { vacuumAndCheckpoint, withDatabase } from '../measuring/databases.ts';
import type { Entry } from '../measuring/harness.ts';
import { freePort } from '../../test/support/network/free-port.ts';
import { backlogFor, drainRate, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours, prefill, register } from './webhooks-ours.ts';

/** The number of finished deliveries, and of deliveries that wait for a dead destination. */
const sizes = { full: { finished: 1_000_000, waiting: 100_000 }, short: { finished: 1_000, waiting: 500 } };
/** A typical transaction of Usher appends a few events. */
const eventsPerTransaction = 10;

/** Whether finished deliveries, or deliveries to a dead destination, slow down new deliveries. */
export const growth: Entry = {
  name: 'webhooks-growth',
  async prepare(lab) {
    const { scope, size } = lab;
    const { finished, waiting } = sizes[size];
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const backlog = backlogFor(size, target);
    const databases = await lab.startDatabases();
    const rate = (contestant: Contestant) => async () => drainRate(scope, receiver, { contestant, backlog });

    const old = await databases.createForUsher('old');
    await withDatabase(old, async (sql) => insertFinished(sql, target, finished));
    await vacuumAndCheckpoint(old);
    const dead = `http://127.0.0.1:${await freePort()}/hook`;
    const blocked = async (): Promise<string> => {
      const url = await databases.createForUsher('blocked');
      await withDatabase(url, async (sql) => insertBlocked(sql, dead, waiting));
      return url;
    };

    const empty = rate(ours(async () => databases.createForUsher('ours')));
    return [
      {
        name: `delivering with ${finished.toLocaleString('en')} finished against with none`,
        unit: 'deliveries/s',
        ours: rate(ours(async () => old)),
        peer: empty,
        atLeast: 0.95,
      },
      {
        name: `delivering with ${waiting.toLocaleString('en')} waiting for a dead destination against with none`,
        unit: 'deliveries/s',
        ours: rate(ours(blocked)),
        peer: empty,
        atLeast: 0.95,
      },
    ];
  },
};

/** Inserts finished deliveries of today to the same address as the new deliveries. */
async function insertFinished(sql: Sql, url: string, count: number): Promise<void> {
  await prefill(sql, { webhookId: await register(sql, url), count, eventsPerTransaction });
  await sql`
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, duration_ms, status, answer)
    SELECT clock_timestamp(), id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
           occurred_at, event_type, created_at, 'delivered', true, 2, 200, 'ok'
      FROM deliveries
     ORDER BY event_seq`;
  await sql`TRUNCATE deliveries`;
}

/** Inserts deliveries to a dead destination: the first of each engagement waits for its retry, the others wait behind it. */
async function insertBlocked(sql: Sql, url: string, count: number): Promise<void> {
  const webhookId = await register(sql, url);
  await prefill(sql, { webhookId, count, eventsPerTransaction });
  await sql`
    UPDATE deliveries
       SET state = 'retrying', attempts = 1, due_at = now() + interval '1 hour'
     WHERE id IN (SELECT DISTINCT ON (engagement_id) id
                    FROM deliveries
                   WHERE webhook_id = ${webhookId}
                   ORDER BY engagement_id, event_seq)`;
}
