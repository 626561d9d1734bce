import type { Events } from '../events/room.ts';
import type { Identity } from '../identity/room.ts';
import { deliveryLog, makeDays } from '../platform/database/daily-logs.ts';
import { pools } from '../platform/database/pools.ts';
import type { Platform, Room } from '../platform/room.ts';
import { channels } from '../channels/channels.ts';
import { OpenChannels } from '../channels/open-channels.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { Transport } from './dispatcher/transport.ts';
import { watchBacklog } from './dispatcher/reading/backlog-metrics.ts';
import { Dispatcher } from './dispatcher/dispatcher.ts';
import { countDeliveries, watchDispatcher } from './dispatcher/metrics.ts';
import { WebhookCache } from './dispatcher/reading/webhook-cache.ts';
import { eventTypeRoutes } from './event-types.ts';
import { checkMs, FailingWebhooks } from './failing-webhooks.ts';
import { Recoveries } from './recoveries/recoveries.ts';
import { recoveryRoutes } from './recoveries/routes.ts';
import { webhookRoutes } from './registrations/routes.ts';
import { dropOldWebhooks } from './retention.ts';
import { statsRoutes } from './stats/routes.ts';

interface WebhooksDependencies {
  readonly identity: Identity;
  readonly events: Events;
}

export function openWebhooks(platform: Platform, { identity, events }: WebhooksDependencies): Room {
  const { config, database, changes, session, clock, log, names, lookup, guard, metrics, tracer } = platform;
  const { sealer } = identity;
  const { hints, attachedGuard } = events;
  const sql = database.connect(pools.dispatcher);
  const guards = { registered: guard, attached: attachedGuard };
  const open = new OpenChannels(channels, { settings: config, sql, sealer, guards, lookup });
  const dispatcher = new Dispatcher({
    sql,
    hints,
    rowChanges: changes,
    session,
    clock,
    log,
    webhookCache: new WebhookCache({ sql, sealer, changes, channels: open }),
    transport: new Transport({ sql, sealer, names, channels: open, tracer }),
    watch: countDeliveries(metrics),
  });
  watchDispatcher(metrics.registry, dispatcher);
  watchBacklog(metrics.registry, database.sql);
  const runs = metrics.work.add('report_failing_webhooks', checkMs / 1_000);
  const failing = new FailingWebhooks({ sql, clock, log, runs });
  const recoveries = new Recoveries({ sql: database.sql, log, onRequeued: (accountId) => hints.notify(accountId) });
  return {
    routes(app) {
      webhookRoutes(app, { guard, sealer, sharedUses: platform.sharedUses });
      eventTypeRoutes(app);
      statsRoutes(app);
      deliveryRoutes(app);
      recoveryRoutes(app, { recoveries, clock });
    },
    sweeps: {
      always: { make_delivery_days: async () => makeDays(database.sql, deliveryLog) },
      expired: {
        drop_webhooks_and_logs: async ({ now }, shouldContinue) =>
          dropOldWebhooks(database.sql, { now, days: config.eventRetentionDays }, shouldContinue),
      },
    },
    async close() {
      failing.stop();
      await recoveries.stop();
      await dispatcher.stop();
      open.close();
      await sql.end({ timeout: 1 });
    },
  };
}
