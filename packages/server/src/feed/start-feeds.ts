import { revealEvent } from '../events/event-secrets.ts';
import type { Hints } from '../events/hints.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { Directory } from '../identity/directory.ts';
import type { Sealer } from '../identity/sealer.ts';
import type { ChangeFeed } from '../platform/change-feed.ts';
import type { ConnectionLimits } from '../platform/connection-limits.ts';
import type { Database } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { SiteQueues } from '../queues/site-queues.ts';
import type { Turns } from '../routing/turns.ts';
import { FeedAdmission } from './admission.ts';
import { countDropped, watchFeeds } from './feed-metrics.ts';
import { Feeds } from './feeds.ts';
import type { Reveal } from './items.ts';
import { PresenceHolder } from './presence-holder.ts';
import { feedRoutes } from './routes.ts';

interface FeedParts {
  readonly app: App;
  readonly database: Database;
  readonly feed: ChangeFeed;
  readonly log: Log;
  readonly siteQueues: SiteQueues;
  readonly hints: Hints;
  readonly metrics: Metrics;
  readonly turns: Turns;
  readonly authenticator: Authenticator;
  readonly directory: Directory;
  readonly sealer: Sealer;
  readonly limits: ConnectionLimits;
}

/** Which of an account's events are new is asked of an index by its account; nothing is gained by planning that anew. */
const feedOptions = { max: 3, connection: { plan_cache_mode: 'force_generic_plan' } };

export function startFeeds({ app, database, feed, metrics, limits, ...parts }: FeedParts): void {
  const { turns, log, directory, sealer } = parts;
  const sql = database.connect(feedOptions);
  const reveal: Reveal = async (event) => revealEvent(sql, sealer, event);
  const feeds = new Feeds({ sql, ...parts, reveal, changes: feed, onDropped: countDropped(metrics.registry) });
  watchFeeds(metrics.registry, feeds);
  const holder = new PresenceHolder(turns, log);
  // Before the server waits for its connections to end.
  app.addHook('preClose', async () => {
    holder.stop();
    feeds.stop();
  });
  app.addHook('onClose', async () => sql.end({ timeout: 1 }));
  const admission = new FeedAdmission({
    limits,
    mostOfAddress: async ({ siteId }) =>
      (await directory.sites.get(siteId))?.site.visitor_limits.open_feeds_per_address ?? Infinity,
    close: (response) => feeds.close(response),
  });
  feedRoutes(app, { feeds, admission, holder, directory, log });
}
