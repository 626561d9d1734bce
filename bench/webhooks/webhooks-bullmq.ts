import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { messageEvent } from './webhook-events.ts';
import { runPeer } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher built on BullMQ: one worker with the full concurrency, as its guide recommends. */
const name = 'webhooks';
const jobsPerInsert = 1_000;

runPeer({
  async fill({ store, count }) {
    const queue = new Queue(name, { connection: { path: store } });
    for (let first = 0; first < count; first += jobsPerInsert) {
      const jobs = Array.from({ length: Math.min(jobsPerInsert, count - first) }, () => ({
        name: 'deliver',
        data: messageEvent(randomUUID()),
        // Completed jobs are removed, which is the least work for BullMQ.
        opts: { removeOnComplete: true },
      }));
      await queue.addBulk(jobs);
    }
    await queue.close();
  },
  async drain(work) {
    const poster = new Poster(work);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const worker = new Worker<ReturnType<typeof messageEvent>>(name, async ({ data }) => poster.postSigned(data), {
      connection: { path: work.store, maxRetriesPerRequest: null },
      concurrency: work.concurrency,
    });
    let left = work.count;
    worker.on('completed', () => {
      left -= 1;
      if (left === 0) resolve();
    });
    worker.on('failed', (_job, error) => reject(error));
    worker.on('error', reject);
    await promise;
  },
});
