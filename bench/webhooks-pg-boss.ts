import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { withDatabase } from './databases.ts';
import { messageEvent } from './webhook-events.ts';
import { contend, untilNothing } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher made by hand on pg-boss: workers that take batches, and go on without a pause while those are full. */
const name = 'webhooks';
const inBulk = 1_000;
/** A batch is completed as one, by one statement; the next is taken after that. */
const batchSize = 16;

contend({
  async fill({ store, count }) {
    const boss = new PgBoss({ connectionString: store, supervise: false, schedule: false });
    await boss.start();
    await boss.createQueue(name);
    for (let first = 0; first < count; first += inBulk) {
      const length = Math.min(inBulk, count - first);
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
      untilNothing(async () => {
        const left = await sql`SELECT 1 FROM pgboss.job WHERE name = ${name} AND state < 'completed' LIMIT 1`;
        return left.length > 0;
      }),
    );
  },
});
