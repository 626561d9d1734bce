import { createServer } from 'node:net';
import type { Config } from './config.ts';
import { ensureFirstAccount, findFirstSuperManager, type NewKey } from './identity/accounts.ts';
import { startHousekeeping } from './housekeeping.ts';
import { linkPath, makeLink } from './identity/sign-in/links.ts';
import { ensureSigningKey } from './identity/signing-keys.ts';
import { openRowChanges } from './platform/database/row-changes.ts';
import { ClockWatch } from './platform/clock/clock-watch.ts';
import { acceptBacklog } from './platform/limits/connection-limits.ts';
import {
  databaseErrorCode,
  isDatabaseUnavailable,
  isDiskFull,
  type Database,
  type Sql,
} from './platform/database/database.ts';
import { DatabaseSession } from './platform/database/database-session.ts';
import { StartError } from './platform/errors.ts';
import type { Log } from './platform/log.ts';
import { serveMetrics } from './platform/watching/metrics-server.ts';
import { logMigrations } from './platform/database/migrations/migration-log.ts';
import { knownMigrations, migrate } from './platform/database/migrations/migrations.ts';
import { listeningUrl } from './platform/server-url.ts';
import { trustAllWarning } from './platform/http/trusted-proxies.ts';
import { openStorage } from './storage.ts';

export interface RunningServer {
  /** The base URL for clients on this machine. */
  readonly url: string;
  /** The version of the database's schema. */
  readonly schema: number;
  /** Where the data is stored, for people to read. */
  readonly dataLocation: string;
  /** The first super_manager's key if this start created it. The key is shown once. */
  readonly firstKey: NewKey | null;
  /** A single-use link that signs the first super_manager in to the console; `null` if this start created none. */
  readonly consoleLink: string | null;
  /** Resolves with the reason when the server can no longer run. */
  readonly failed: Promise<string>;
  /** Accepts no new requests, drains the running ones and closes everything, within 10 s. */
  stop(): Promise<void>;
}

/** Requests that still run after this time are aborted. */
const drainMs = 4_000;

/**
 * Wires the process: config → database → rooms (`app.ts`) → HTTP. Each room wires itself in its `room.ts`. `lifecycle` is the log of what
 * the process does as a whole, which a terminal shows even if it is otherwise quiet.
 */
export async function startServer(config: Config, log: Log, lifecycle: Log): Promise<RunningServer> {
  if (config.trustProxy === true) log.warn(trustAllWarning);
  await refuseTakenPorts(config);
  // The rooms are loaded while the embedded PostgreSQL starts in its own process. If that fails, the second import says so.
  const loadRooms = async () => import('./app.ts');
  const storage = await openStorage(config, log, () => void loadRooms().catch(() => undefined));
  const closers: (() => Promise<void>)[] = [async () => storage.close()];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    let hasAccount = false;
    const after = async (sql: Sql): Promise<void> => {
      await ensureSigningKey(sql);
      hasAccount = (await findFirstSuperManager(sql, 'any')) !== null;
    };
    await migrate(storage.database, after, { mode: config.migrate, ...logMigrations(lifecycle) });
    // The first account is created last, so that a failed start shows no key. One that is there is opened while the app is built.
    const opening = hasAccount ? openFirstAccount(storage.database, config) : null;
    // It may fail before it is awaited.
    opening?.catch(() => undefined);
    closers.push(async () => void (await Promise.allSettled([opening])));
    const changes = await openRowChanges(storage.database.address);
    closers.push(async () => changes.close());
    const session = await DatabaseSession.open(storage.database.address);
    closers.push(async () => session.close());
    const clock = await ClockWatch.start(session.sql, log);
    closers.push(async () => clock.stop());
    const { database, diskSpace } = storage;
    const { buildApp } = await loadRooms();
    const { app, sweeps, metrics } = await buildApp({ config, database, diskSpace, changes, session, clock, log });
    closers.push(async () => {
      const cutOff = setTimeout(() => app.server.closeAllConnections(), drainMs).unref();
      await app.close();
      clearTimeout(cutOff);
    });
    const stopHousekeeping = startHousekeeping({ sweeps, clock, log, work: metrics.work });
    closers.push(async () => stopHousekeeping());
    const { firstKey, linkToken } = await (opening ?? openFirstAccount(storage.database, config));
    await app
      .listen({ host: config.host, port: config.port, backlog: acceptBacklog })
      .catch((error: NodeJS.ErrnoException) => {
        throw new StartError(`${cannotListen('PORT', config, error.code)}${describeNewKey(firstKey)}`, {
          cause: error,
        });
      });
    if (config.metricsPort !== null) {
      const address = { host: config.host, port: config.metricsPort };
      const own = await serveMetrics(metrics, address).catch((error: NodeJS.ErrnoException) => {
        throw new StartError(cannotListen('USHER_METRICS_PORT', address, error.code), { cause: error });
      });
      closers.push(async () => own.close());
      log.info({ port: own.port }, 'serving metrics');
    }
    const url = listeningUrl(app.server.address(), config);
    const consoleLink = linkToken === null ? null : `${config.publicUrl || url}${linkPath(linkToken)}`;
    const schema = (await knownMigrations()).length;
    return { url, schema, dataLocation: storage.location, firstKey, consoleLink, failed: storage.died, stop };
  } catch (error) {
    await stop();
    throw lostDatabase(error) ?? error;
  }
}

/** `null`: the error has another cause. ENOENT is a missing socket of PostgreSQL, or a missing file. */
function lostDatabase(error: unknown): StartError | null {
  const code = databaseErrorCode(error);
  const isFile = code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall !== 'connect';
  if (error instanceof StartError || isFile || !isDatabaseUnavailable(error)) return null;
  const text = isDiskFull(error)
    ? 'The disk of the database is full. Free some space, and start Usher again.'
    : `The database stopped responding during the start (${code ?? 'unknown reason'}). Check that it runs and is not overloaded, and start Usher again.`;
  return new StartError(text, { cause: error });
}

interface OpenedAccount {
  readonly firstKey: NewKey | null;
  readonly linkToken: string | null;
}

/** Creates the first account if there is none, under the lock of the migrations, so that only one process creates it. */
async function openFirstAccount(database: Database, config: Config): Promise<OpenedAccount> {
  let opened: OpenedAccount = { firstKey: null, linkToken: null };
  await migrate(database, async (sql) => {
    const { made, key } = await ensureFirstAccount(sql, config.adminKey);
    // The link is printed. With an external database, the output may be read by people who do not control this machine.
    const linkToken = made || config.userDatabase === null ? await firstLink(sql) : null;
    opened = { firstKey: key, linkToken };
  });
  return opened;
}

async function firstLink(sql: Sql): Promise<string | null> {
  const first = await findFirstSuperManager(sql, 'enabled');
  return first === null ? null : makeLink(sql, first);
}

/** Checks the port before anything else: a server that cannot listen must not create a database or a key that nobody sees. */
async function refuseTakenPorts({ host, port, metricsPort }: Config): Promise<void> {
  await refuseTakenPort('PORT', { host, port });
  if (metricsPort !== null) await refuseTakenPort('USHER_METRICS_PORT', { host, port: metricsPort });
}

type PortSetting = 'PORT' | 'USHER_METRICS_PORT';
type Address = Pick<Config, 'host' | 'port'>;

async function refuseTakenPort(setting: PortSetting, { host, port }: Address): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(new StartError(cannotListen(setting, { host, port }, error.code), { cause: error })),
    );
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** The new key is stored already, so it is shown even if listening fails. */
function describeNewKey(key: NewKey | null): string {
  return key === null ? '' : ` The first API key, shown only once, is ${key.id} with the secret ${key.secret}.`;
}

function cannotListen(setting: PortSetting, { host, port }: Address, code: string | undefined): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the program that uses it, or set ${setting} to another port.`;
    case 'EACCES':
      return `Port ${port} needs privileges that this user lacks. Set ${setting} to 1024 or above.`;
    default:
      return `Cannot listen on ${host} port ${port} (${code ?? 'unknown reason'}). Set HOST to an address of this machine.`;
  }
}
