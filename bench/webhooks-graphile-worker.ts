import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { withDatabase } from './databases.ts';
import { messageEvent } from './webhook-events.ts';
import { contend, untilNothing } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher made by hand on Graphile Worker, with the batching that its page on performance recommends. */
const task = 'deliver';
const inBulk = 1_000;
/** As in the configuration by which that page was measured. */
const localQueue = { size: 500 };
const batchDelayMs = 0;
/** A line for each job would be most of its work. */
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

contend({
  async fill({ store, count }) {
    const utils = await makeWorkerUtils({ connectionString: store, logger });
    await utils.migrate();
    for (let first = 0; first < count; first += inBulk) {
      const length = Math.min(inBulk, count - first);
      await utils.addJobs(Array.from({ length }, () => ({ identifier: task, payload: messageEvent(randomUUID()) })));
    }
    await utils.release();
  },
  async drain(work) {
    const poster = new Poster(work);
    await run({
      logger,
      preset: {
        worker: {
          connectionString: work.store,
          concurrentJobs: work.concurrency,
          maxPoolSize: work.concurrency + 1,
          localQueue,
          completeJobBatchDelay: batchDelayMs,
          failJobBatchDelay: batchDelayMs,
        },
      },
      taskList: { [task]: async (payload) => poster.postSigned(payload as ReturnType<typeof messageEvent>) },
      parsedCronItems: [],
      noHandleSignals: true,
    });
    await poster.all;
    await withDatabase(work.store, async (sql) =>
      untilNothing(async () => {
        const left = await sql`SELECT 1 FROM graphile_worker.jobs LIMIT 1`;
        return left.length > 0;
      }),
    );
  },
});
