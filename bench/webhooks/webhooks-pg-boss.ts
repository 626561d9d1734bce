import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { withDatabase } from '../measuring/databases.ts';
import { messageEvent } from './webhook-events.ts';
import { runPeer, waitUntilEmpty } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher built on pg-boss: workers fetch batches, and fetch the next one without a pause while batches are full. */
const name = 'webhooks';
const jobsPerInsert = 1_000;
/** One statement completes a batch; the worker fetches the next batch after that. */
const batchSize = 16;

runPeer({
  async fill({ store, count }) {
    const boss = new PgBoss({ connectionString: store, supervise: false, schedule: false });
    await boss.start();
    await boss.createQueue(name);
    for (let first = 0; first < count; first += jobsPerInsert) {
      const length = Math.min(jobsPerInsert, count - first);
      await boss.insert(
        name,
        Array.from({ length }, () => ({ data: messageEvent(randomUUID()) })),
      );
    }
    await boss.stop({ graceful: false });
  },
  async drain(work) {
    const poster = new Poster(work);
    const boss = new PgBoss({ connectionString: work.store, supervise: false, schedule: false });
    boss.on('error', (error) => {
      throw error;
    });
    await boss.start();
    await boss.work<ReturnType<typeof messageEvent>>(
      name,
      {
        batchSize,
        localConcurrency: work.concurrency / batchSize,
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      },
      async (jobs) => {
        await Promise.all(jobs.map(async ({ data }) => poster.postSigned(data)));
      },
    );
    await poster.all;
    await withDatabase(work.store, async (sql) =>
      waitUntilEmpty(async () => {
        const left = await sql`SELECT 1 FROM pgboss.job WHERE name = ${name} AND state < 'completed' LIMIT 1`;
        return left.length > 0;
      }),
    );
  },
});
