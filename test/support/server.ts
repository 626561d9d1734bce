import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buildApp } from '../../packages/server/src/app.ts';
import { readConfig, type Config } from '../../packages/server/src/config.ts';
import { openRowChanges, type RowChanges } from '../../packages/server/src/platform/database/row-changes.ts';
import { ClockWatch } from '../../packages/server/src/platform/clock/clock-watch.ts';
import {
  openDatabase,
  type Database,
  type DatabaseAddress,
} from '../../packages/server/src/platform/database/database.ts';
import { DatabaseSession } from '../../packages/server/src/platform/database/database-session.ts';
import type { DiskSpace } from '../../packages/server/src/platform/embedded/disk-watch.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import type { Pace } from '../../packages/server/src/sample/simulations.ts';
import type { App } from '../../packages/server/src/platform/http/http.ts';
import { requestConnections } from '../../packages/server/src/platform/database/pools.ts';
import type { Metrics } from '../../packages/server/src/platform/watching/metrics.ts';
import type { Sweeps } from '../../packages/server/src/platform/room.ts';
import './people/cheap-hashes.ts';
import { cloneDatabase } from './database/database.ts';
import { refuseUndeclaredErrors } from './api/declared-errors.ts';
import { send } from './network/http-client.ts';
import { slowness, startWatch } from './slowness.ts';

export interface TestServer {
  readonly url: string;
  readonly app: App;
  /** The sweeps that housekeeping runs. */
  readonly sweeps: readonly Sweeps[];
  readonly metrics: Metrics;
  readonly database: Database;
  readonly changes: RowChanges;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  /** Every line logged so far. */
  readonly logged: string[];
  /** The directory of stored files. It is deleted with the server unless the test has chosen it. */
  readonly dataDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the real app on a free port, with a new database. With an address, it shares the database of another server. */
export async function startTestServer(
  overrides: Partial<Config> = {},
  address?: DatabaseAddress,
  samplePace: Partial<Pace> = {},
  diskSpace: DiskSpace | null = null,
): Promise<TestServer> {
  const dataDir = overrides.dataDir ?? mkdtempSync(join(tmpdir(), 'usher-test-data-'));
  // Test receivers are on loopback, also for webhooks that visitors attach.
  const attachedWebhookAllowCidrs = overrides.webhookAllowCidrs ?? readConfig({}).webhookAllowCidrs;
  const limits = { rateLimitPerToken: 1e9, rateLimitSignIn: 1e9 };
  const config: Config = { ...readConfig({}), attachedWebhookAllowCidrs, ...limits, ...overrides, dataDir };
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const log = createLog('info', sink);
  const database = openDatabase(address ?? (await cloneDatabase()), requestConnections(config));
  const changes = await openRowChanges(database.address);
  const session = await DatabaseSession.open(database.address);
  const clock = await ClockWatch.start(session.sql, log);
  const resources = { config, database, changes, session, clock, log, diskSpace };
  const { app, sweeps, metrics } = await buildApp(resources, samplePace);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const bound = app.server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    app,
    sweeps,
    metrics,
    database,
    changes,
    session,
    clock,
    logged,
    dataDir,
    async [Symbol.asyncDispose]() {
      app.server.closeAllConnections();
      await app.close();
      clock.stop();
      await session.close();
      await changes.close();
      await database.close(1_000);
      if (overrides.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      refuseUndeclaredErrors(logged);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests assert the shape of the body.
  readonly body: Json;
}

/** Any JSON. A missing field reads as undefined, which no assertion matches. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function call(server: { url: string }, request: string, options: CallOptions = {}): Promise<Answer> {
  const [method = 'GET', path = '/'] = request.split(' ', 2);
  const { token, body, headers = {} } = options;
  const url = `${server.url}${path}`;
  const all = {
    ...(token === undefined ? {} : { authorization: token.includes(' ') ? token : `Bearer ${token}` }),
    ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const content =
    body === undefined || body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body);
  return answerOf(await send(url, { method, headers: all, body: content }));
}

function answerOf({ status, headers, text }: Awaited<ReturnType<typeof send>>): Answer {
  const isJson = headers.get('content-type')?.includes('json') === true && text !== '';
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** How long a condition may take on an idle machine, if no limit is named. */
const patienceMs = 60_000;
/** How often `until` checks: the longer it has waited, the less often, so that a waiting test uses little CPU. */
const pollMs = { min: 5, max: 50, shareOfWaiting: 0.05 };

/**
 * Waits for a condition instead of for a time. A test that limits the time itself says how long the machine may work: a limit does
 * not count what its host gave to others.
 */
export async function until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void> {
  const watch = startWatch();
  while (!(await condition())) {
    const waitedMs = watch();
    if (waitedMs > (limitMs ?? patienceMs * slowness()))
      throw new Error(`the condition was not met within ${Math.round(waitedMs)} ms`);
    const pauseMs = Math.min(pollMs.max, Math.max(pollMs.min, waitedMs * pollMs.shareOfWaiting));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
