import type { LookupFunction } from 'node:net';
import type { Config } from '../config.ts';
import { AddressGuard } from './address-guard.ts';
import type { RowChanges } from './row-changes.ts';
import type { ClockWatch, SweepTime } from './clock-watch.ts';
import { connectionLimits, openFileLimit, type ConnectionLimits } from './connection-limits.ts';
import type { Database, Sql } from './database.ts';
import type { DatabaseSession } from './database-session.ts';
import type { DiskSpace } from './disk-room.ts';
import { docsRoutes } from './docs.ts';
import { healthRoutes } from './health.ts';
import type { App } from './http.ts';
import { dropOldIdempotencyKeys } from './idempotency.ts';
import type { Log } from './log.ts';
import { createMetrics, metricsRoute, type Metrics } from './metrics.ts';
import { watchNames } from './names/metrics.ts';
import { NameResolver } from './names/name-resolver.ts';
import { apiDocument, type ApiDocument } from './openapi.ts';
import { pageRoutes } from './pages.ts';
import { pools } from './pools.ts';

/**
 * What a room gives to the process that opens it. Its background work begins when it is opened, and its metrics are in the
 * registry from then on. What later rooms need of it, it returns beside these.
 */
export interface Room {
  /** Registers its routes. Every hook that affects routes is installed by then. */
  readonly routes?: (app: App) => void | Promise<void>;
  readonly sweeps?: Sweeps;
  /** Ends what would keep connections open, before the server waits for them to end. */
  readonly hangUp?: () => void | Promise<void>;
  /** Ends its background work and its pools, after the last request. Rooms close in the reverse order of opening. */
  readonly close?: () => Promise<void>;
}

/** What housekeeping does for a room, at the start and every ten minutes. */
export interface Sweeps {
  /** Tasks for which the clock does not matter. Long ones end when `isOver`. */
  readonly always?: readonly ((isOver: () => boolean) => Promise<void>)[];
  /** Tasks that delete by time. The instant has passed the check of the clock. */
  readonly expired?: readonly ((time: CheckedTime) => Promise<void>)[];
}

type CheckedTime = Extract<SweepTime, { mayDelete: true }>;

/** What the process has opened before its rooms. */
export interface ProcessResources {
  readonly config: Config;
  readonly database: Database;
  readonly changes: RowChanges;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  readonly log: Log;
  /** Whether there is room on the disk of an embedded database and its files. */
  readonly diskSpace: DiskSpace | null;
}

/** What every other room stands on. */
export interface Platform extends ProcessResources {
  readonly metrics: Metrics;
  readonly limits: ConnectionLimits;
  /** Connections that no transaction holds. */
  readonly lookups: Sql;
  readonly names: NameResolver;
  /** For what settings name: the scanner, the carrier, Apple. */
  readonly lookup: LookupFunction;
  /** For registered webhooks and identity providers. */
  readonly guard: AddressGuard;
}

export function openPlatform(parts: ProcessResources, eventWebhooks: () => ApiDocument['webhooks']): Room & Platform {
  const { config, database, diskSpace } = parts;
  const metrics = createMetrics(database.sql, config.databaseConnections);
  const lookups = database.connect(pools.lookups);
  const names = new NameResolver({ servers: config.dnsServers });
  watchNames(metrics.registry, names);
  return {
    ...parts,
    metrics,
    limits: connectionLimits(openFileLimit()),
    lookups,
    names,
    lookup: names.lookupFor('settings'),
    guard: new AddressGuard(config.webhookAllowCidrs, names),
    async routes(app) {
      await healthRoutes(app, database.pulse, diskSpace);
      metricsRoute(app, metrics);
      docsRoutes(app, () => apiDocument(app, eventWebhooks()));
      await pageRoutes(app);
    },
    sweeps: { expired: [async ({ now }) => dropOldIdempotencyKeys(database.sql, now)] },
    async close() {
      names.close();
      await lookups.end({ timeout: 1 });
    },
  };
}
