import { revealEvent } from '../events/event-secrets.ts';
import type { Events } from '../events/room.ts';
import type { Identity } from '../identity/room.ts';
import { pools } from '../platform/database/pools.ts';
import type { Platform, Room } from '../platform/room.ts';
import type { Queues } from '../queues/room.ts';
import type { Routing } from '../routing/room.ts';
import { FeedAdmission } from './admission.ts';
import { countDropped, watchFeeds } from './feed-metrics.ts';
import { Feeds } from './feeds.ts';
import { PresenceHolder } from './presence-holder.ts';
import { feedRoutes } from './routes.ts';

interface FeedDependencies {
  readonly identity: Identity;
  readonly events: Events;
  readonly queues: Queues;
  readonly routing: Routing;
}

export function openFeed(platform: Platform, { identity, events, queues, routing }: FeedDependencies): Room {
  const { database, changes, log, metrics, limits } = platform;
  const { directory, authenticator, sealer } = identity;
  const { turns } = routing;
  const sql = database.connect(pools.feed);
  const feeds = new Feeds({
    sql,
    log,
    hints: events.hints,
    siteQueues: queues.siteQueues,
    turns,
    authenticator,
    changes,
    reveal: async (event) => revealEvent(sql, sealer, event),
    onDropped: countDropped(metrics.registry),
  });
  watchFeeds(metrics.registry, feeds);
  const holder = new PresenceHolder(turns, log);
  const admission = new FeedAdmission({
    limits,
    maxPerAddress: async ({ siteId }) =>
      (await directory.sites.get(siteId))?.site.visitor_limits.open_feeds_per_address ?? Infinity,
    close: (response) => feeds.close(response),
  });
  return {
    routes: (app) => feedRoutes(app, { feeds, admission, holder, directory, log }),
    prepareToClose() {
      holder.stop();
      feeds.stop();
    },
    close: async () => sql.end({ timeout: 1 }),
  };
}
