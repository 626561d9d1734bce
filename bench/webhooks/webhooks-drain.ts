import type { Contest, Entry } from '../measuring/harness.ts';
import { hasRedis } from '../measuring/redis.ts';
import { backlogFor, bare, bullmq, drainRate, onPostgres, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours } from './webhooks-ours.ts';

/** How fast one process delivers a backlog, compared with bare requests and with dispatchers built on job queues. */
export const drain: Entry = {
  name: 'webhooks-drain',
  async prepare(lab) {
    const { scope, size } = lab;
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const backlog = backlogFor(size, target);
    const databases = await lab.startDatabases();
    const rate = (contestant: Contestant) => async () => drainRate(scope, receiver, { contestant, backlog });
    const graphileWorker = onPostgres(databases, new URL('./webhooks-graphile-worker.ts', import.meta.url));
    const pgBoss = onPostgres(databases, new URL('./webhooks-pg-boss.ts', import.meta.url));
    const withRedis = hasRedis() ? [{ name: 'BullMQ', rate: rate(bullmq), atLeast: 1 }] : [];
    if (withRedis.length === 0) console.error('Skipping BullMQ: redis-server is not on the PATH.');
    const contest: Contest = {
      name: 'delivering a backlog',
      unit: 'deliveries/s',
      ours: rate(ours(async () => databases.createForUsher('ours'))),
      peers: [
        { name: 'bare requests', rate: rate(bare), atLeast: 0.6 },
        ...withRedis,
        { name: 'Graphile Worker', rate: rate(graphileWorker), atLeast: 1 },
        { name: 'pg-boss', rate: rate(pgBoss), atLeast: 1 },
      ],
    };
    return [contest];
  },
};
