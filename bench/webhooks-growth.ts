import type { Sql } from '../packages/server/src/platform/database.ts';
import { settle, withDatabase } from './databases.ts';
import type { Entry } from './harness.ts';
import { freePort } from './processes.ts';
import { backlogFor, drainRate, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours, prefill, register } from './webhooks-ours.ts';

/** Deliveries that were finished before, and those that wait for a dead destination. */
const sizes = { full: { finished: 1_000_000, waiting: 100_000 }, short: { finished: 1_000, waiting: 500 } };
/** A transaction of Usher's has a few events. */
const together = 10;

/** Whether what was delivered long ago, or cannot be, makes the next deliveries slower. */
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

    const old = await databases.ofUsher('old');
    await withDatabase(old, async (sql) => finish(sql, target, finished));
    await settle(old);
    const dead = `http://127.0.0.1:${await freePort()}/hook`;
    const blocked = async (): Promise<string> => {
      const url = await databases.ofUsher('blocked');
      await withDatabase(url, async (sql) => block(sql, dead, waiting));
      return url;
    };

    const empty = rate(ours(async () => databases.ofUsher('ours')));
    return [
      {
        name: `delivering with ${finished.toLocaleString('en')} finished against with none`,
        unit: 'deliveries/s',
        ours: rate(ours(async () => old)),
        peer: empty,
        atLeast: 0.9,
      },
      {
        name: `delivering with ${waiting.toLocaleString('en')} waiting for a dead destination against with none`,
        unit: 'deliveries/s',
        ours: rate(ours(blocked)),
        peer: empty,
        atLeast: 0.9,
      },
    ];
  },
};

/** As if so many had arrived today, at the address that the next will be sent to. */
async function finish(sql: Sql, url: string, count: number): Promise<void> {
  await prefill(sql, { webhookId: await register(sql, url), count, together });
  await sql`
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, duration_ms, status, answer)
    SELECT clock_timestamp(), id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
           occurred_at, event_type, created_at, 'delivered', true, 2, 200, 'ok'
      FROM deliveries
     ORDER BY event_seq`;
  await sql`TRUNCATE deliveries`;
}

/** Where nobody listens: of each engagement the first is to be tried again later, and the others wait behind it. */
async function block(sql: Sql, url: string, count: number): Promise<void> {
  const webhookId = await register(sql, url);
  await prefill(sql, { webhookId, count, together });
  await sql`
    UPDATE deliveries
       SET state = 'retrying', attempts = 1, due_at = now() + interval '1 hour'
     WHERE id IN (SELECT DISTINCT ON (engagement_id) id
                    FROM deliveries
                   WHERE webhook_id = ${webhookId}
                   ORDER BY engagement_id, event_seq)`;
}
