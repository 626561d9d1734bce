import type { Platform, Room } from '../platform/room.ts';
import { availabilityRoute } from './availability.ts';
import { channelRoutes } from './channels/routes.ts';
import { rankingRoutes } from './rankings/routes.ts';
import { watchQueues } from './queue-metrics.ts';
import { queueRoutes } from './routes.ts';
import { SiteQueues } from './site-queues.ts';

export interface Queues {
  readonly siteQueues: SiteQueues;
}

export function openQueues({ database, changes, clock, metrics }: Platform): Room & Queues {
  const siteQueues = new SiteQueues(database.sql, changes, clock);
  watchQueues(metrics.registry, database.sql);
  return {
    siteQueues,
    routes(app) {
      queueRoutes(app, siteQueues);
      availabilityRoute(app, siteQueues);
      rankingRoutes(app);
      channelRoutes(app);
    },
  };
}
