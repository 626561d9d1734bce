import type { Identity } from '../identity/room.ts';
import { AddressGuard } from '../platform/outbound/address-guard.ts';
import { dropDays, eventLog, makeDays } from '../platform/database/daily-logs.ts';
import type { Platform, Room } from '../platform/room.ts';
import { WebhookAttacher } from './subscriptions/attach-webhooks.ts';
import { dropExpiredSecrets } from './event-secrets.ts';
import { Hints } from './hints.ts';
import { beginEpochs } from './log-point.ts';
import { eventLogRoutes } from './log/routes.ts';
import { UnresolvedNames } from './unresolved-names.ts';

export interface Events {
  readonly hints: Hints;
  /** Stores the webhooks that are attached to a ticket or request. */
  readonly attacher: WebhookAttacher;
  /** The addresses that attached webhooks may call. */
  readonly attachedGuard: AddressGuard;
}

export async function openEvents(platform: Platform, { sealer, directory }: Identity): Promise<Room & Events> {
  const { config, lookups, changes, log, names } = platform;
  const { sql } = platform.database;
  await beginEpochs(lookups, changes, log);
  const hints = new Hints(lookups, changes, log);
  const guard = new AddressGuard(config.attachedWebhookAllowCidrs, names);
  const unresolved = new UnresolvedNames(names);
  return {
    hints,
    attacher: new WebhookAttacher({ sql: lookups, sealer, sites: directory.sites, guard, unresolved }),
    attachedGuard: guard,
    routes: (app) => eventLogRoutes(app, config.eventRetentionDays),
    sweeps: {
      always: { make_event_days: async () => makeDays(sql, eventLog) },
      expired: {
        drop_event_days: async ({ now }) => dropDays(sql, eventLog, { now, days: config.eventRetentionDays }),
        drop_event_secrets: async ({ now }, shouldContinue) => dropExpiredSecrets(sql, now, shouldContinue),
      },
    },
    close: async () => hints.stop(),
  };
}
