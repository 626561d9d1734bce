import { startDatabases } from './databases.ts';
import type { Contest, Entry } from './harness.ts';
import { hasRedis } from './redis.ts';
import { bare, bullmq, drainRate, onPostgres, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours, prepareTemplate } from './webhooks-ours.ts';

/** How fast a backlog is delivered, by one process each: against bare requests, and dispatchers made by hand on job queues. */
export const drain: Entry = {
  name: 'webhooks-drain',
  async prepare(scope) {
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const databases = await startDatabases(scope);
    const template = await prepareTemplate(scope, databases);
    const rate = (contestant: Contestant) => async () => drainRate(scope, receiver, { contestant, target });
    const graphileWorker = onPostgres(databases, new URL('./webhooks-graphile-worker.ts', import.meta.url));
    const pgBoss = onPostgres(databases, new URL('./webhooks-pg-boss.ts', import.meta.url));
    const withRedis = hasRedis() ? [{ name: 'BullMQ', rate: rate(bullmq), atLeast: 2 }] : [];
    if (withRedis.length === 0) console.error('BullMQ is left out: there is no redis-server on the PATH.');
    const contest: Contest = {
      name: 'delivering a backlog',
      unit: 'deliveries/s',
      ours: rate(ours(async () => databases.fresh('ours', template))),
      peers: [
        { name: 'bare requests', rate: rate(bare), atLeast: 0.6 },
        ...withRedis,
        { name: 'Graphile Worker', rate: rate(graphileWorker), atLeast: 1.4 },
        { name: 'pg-boss', rate: rate(pgBoss), atLeast: 2 },
      ],
    };
    return [contest];
  },
};
