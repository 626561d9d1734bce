import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { messageEvent } from './webhook-events.ts';
import { contend } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** A dispatcher made by hand on BullMQ: one worker with all the concurrency, as its guide has it. */
const name = 'webhooks';
const inBulk = 1_000;

contend({
  async fill({ store, count }) {
    const queue = new Queue(name, { connection: { path: store } });
    for (let first = 0; first < count; first += inBulk) {
      const jobs = Array.from({ length: Math.min(inBulk, count - first) }, () => ({
        name: 'deliver',
        data: messageEvent(randomUUID()),
        // Nothing has to be kept of them, which is the least work.
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
