import type { LookupFunction } from 'node:net';
import type { Config } from '../config.ts';
import { AddressGuard } from './outbound/address-guard.ts';
import type { ShouldContinue } from './database/batches.ts';
import type { RowChanges } from './database/row-changes.ts';
import type { ClockWatch, SweepTime } from './clock/clock-watch.ts';
import { connectionLimits, openFileLimit, type ConnectionLimits } from './limits/connection-limits.ts';
import { SharedUses } from './limits/shared-uses.ts';
import { ConnectionShares } from './database/connection-shares.ts';
import type { Database, Sql } from './database/database.ts';
import type { DatabaseSession } from './database/database-session.ts';
import type { DiskSpace } from './embedded/disk-watch.ts';
import { docsRoutes } from './reference/docs.ts';
import { healthRoutes } from './http/health.ts';
import type { App } from './http/http.ts';
import { dropOldIdempotencyKeys } from './http/idempotency.ts';
import type { Log } from './log.ts';
import { watchDatabase } from './watching/database-metrics.ts';
import { createMetrics, metricsRoute, type Metrics } from './watching/metrics.ts';
import { watchNames } from './outbound/names/metrics.ts';
import { NameResolver } from './outbound/names/name-resolver.ts';
import type { EventSchemas } from './reference/openapi/model.ts';
import { pageRoutes } from './http/pages.ts';
import { pools, requestConnections } from './database/pools.ts';
import type * as OtlpTracer from './watching/tracing/otlp-tracer.ts';
import type { Tracer } from './watching/tracing/tracer.ts';

/**
 * What a room provides to the process. Opening a room starts its background work and registers its metrics. A room also returns
 * what later rooms need from it.
 */
export interface Room {
  /** Registers the routes of the room. All hooks are installed by then. */
  readonly routes?: (app: App) => void | Promise<void>;
  readonly sweeps?: Sweeps;
  /** Ends what keeps connections open, such as the live feed, before the server waits for them to close. */
  readonly prepareToClose?: () => void | Promise<void>;
  /** Ends the background work and the pools of the room, after the last request. Rooms close in reverse order. */
  readonly close?: () => Promise<void>;
}

/** The periodic tasks of a room by their names in the metrics. Housekeeping runs them at the start and every ten minutes. */
export interface Sweeps {
  /** Tasks that do not depend on the clock. Long tasks work in batches (batches.ts), as long as `shouldContinue` says so. */
  readonly always?: Readonly<Record<string, (shouldContinue: ShouldContinue) => Promise<void>>>;
  /** Tasks that delete by time. Their `time` has passed the check of the clock. */
  readonly expired?: Readonly<Record<string, (time: CheckedTime, shouldContinue: ShouldContinue) => Promise<void>>>;
}

type CheckedTime = Extract<SweepTime, { mayDelete: true }>;

/** What the process opens before its rooms. */
export interface ProcessResources {
  readonly config: Config;
  readonly database: Database;
  readonly changes: RowChanges;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  readonly log: Log;
  /** The free space for an embedded database and its files. */
  readonly diskSpace: DiskSpace | null;
}

/** What every other room uses. */
export interface Platform extends ProcessResources {
  readonly metrics: Metrics;
  readonly limits: ConnectionLimits;
  /** What all processes have used of the limits per minute. */
  readonly sharedUses: SharedUses;
  /** The share of each account in the connections for requests. */
  readonly shares: ConnectionShares;
  /** Connections that transactions never hold. */
  readonly lookups: Sql;
  readonly names: NameResolver;
  /** Resolves hosts from settings: the scanner, the carrier, Apple. */
  readonly lookup: LookupFunction;
  /** Checks the addresses of registered webhooks and identity providers. */
  readonly guard: AddressGuard;
  /** `null`: nothing is traced. */
  readonly tracer: Tracer | null;
}

export async function openPlatform(
  resources: ProcessResources,
  eventSchemas: () => EventSchemas,
): Promise<Room & Platform> {
  const { config, database, changes, diskSpace, log } = resources;
  const metrics = createMetrics();
  watchDatabase(metrics.registry, { database, changes, connections: config.databaseConnections });
  const shares = new ConnectionShares(requestConnections(config));
  shares.watch(metrics.registry);
  const lookups = database.connect(pools.lookups);
  const names = new NameResolver({ servers: config.dnsServers });
  watchNames(metrics.registry, names);
  const lookup = names.lookupFor('settings');
  const tracer = await openTracer(config.tracing, { lookup, log, registry: metrics.registry });
  return {
    ...resources,
    metrics,
    limits: connectionLimits(openFileLimit()),
    sharedUses: new SharedUses(lookups, changes, log),
    shares,
    lookups,
    names,
    lookup,
    guard: new AddressGuard(config.webhookAllowCidrs, names),
    tracer,
    async routes(app) {
      await healthRoutes(app, database.pulse, diskSpace);
      // With a port of its own the metrics are not public: `metrics-server.ts`.
      if (config.metricsPort === null) metricsRoute(app, metrics);
      docsRoutes(app, eventSchemas);
      await pageRoutes(app);
    },
    sweeps: {
      expired: {
        drop_idempotency_keys: async ({ now }, shouldContinue) =>
          dropOldIdempotencyKeys(database.sql, now, shouldContinue),
      },
    },
    async close() {
      // The other rooms are closed, so there are no more spans.
      await tracer?.close();
      names.close();
      await lookups.end({ timeout: 1 });
    },
  };
}

/** The exporter of spans is loaded only if it is used. */
async function openTracer(
  settings: Config['tracing'],
  options: Parameters<typeof OtlpTracer.openTracer>[1],
): Promise<OtlpTracer.OpenTracer | null> {
  if (settings === null) return null;
  const otlp = await import('./watching/tracing/otlp-tracer.ts');
  return otlp.openTracer(settings, options);
}
