import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { withDatabase } from '../measuring/databases.ts';
import { messageEvent } from './webhook-events.ts';
import { runPeer, waitUntilEmpty } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher built on Graphile Worker, with the batching that its performance guide recommends. */
const task = 'deliver';
const jobsPerInsert = 1_000;
/** The value of the configuration that the performance guide measured. */
const localQueue = { size: 500 };
const batchDelayMs = 0;
/** Logs errors only: a line for each job would cost more than the job. */
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

runPeer({
  async fill({ store, count }) {
    const utils = await makeWorkerUtils({ connectionString: store, logger });
    await utils.migrate();
    for (let first = 0; first < count; first += jobsPerInsert) {
      const length = Math.min(jobsPerInsert, count - first);
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
      waitUntilEmpty(async () => {
        const left = await sql`SELECT 1 FROM graphile_worker.jobs LIMIT 1`;
        return left.length > 0;
      }),
    );
  },
});
