import { createServer } from 'node:net';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { ensureFirstAccount, findFirstSuperManager, type NewKey } from './identity/accounts.ts';
import { startHousekeeping } from './housekeeping.ts';
import { linkPath, makeLink } from './identity/sign-in/links.ts';
import { ensureSigningKey } from './identity/signing-keys.ts';
import { openRowChanges } from './platform/row-changes.ts';
import { ClockWatch } from './platform/clock-watch.ts';
import type { Sql } from './platform/database.ts';
import { DatabaseSession } from './platform/database-session.ts';
import { StartError } from './platform/errors.ts';
import type { Log } from './platform/log.ts';
import { migrate } from './platform/migrations.ts';
import { listeningUrl } from './platform/server-url.ts';
import { trustsEverybody } from './platform/trusted-proxies.ts';
import { openStorage } from './storage.ts';

export interface RunningServer {
  /** Where it serves, as a client would write it. */
  readonly url: string;
  readonly place: string;
  /** The first super_manager's key, where this start made it: to be shown this once. */
  readonly firstKey: NewKey | null;
  /** Opens the console signed in as the first super_manager, once; `null`: this start made none. */
  readonly consoleLink: string | null;
  /** Resolves if it cannot go on, with the reason. */
  readonly failed: Promise<string>;
  /** Takes no more, finishes what runs, lets go of everything; within 10 s. */
  stop(): Promise<void>;
}

/** Requests still running when this is over are cut off. */
const drainMs = 4_000;

/** config → database → rooms → HTTP. The only wiring there is. */
export async function startServer(config: Config, log: Log): Promise<RunningServer> {
  if (config.trustProxy === true) log.warn(trustsEverybody);
  await refuseTakenPort(config);
  const storage = await openStorage(config, log);
  const closers: (() => Promise<void>)[] = [async () => storage.close()];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    await migrate(storage.database, ensureSigningKey);
    const changes = await openRowChanges(storage.database.address);
    closers.push(async () => changes.close());
    const session = await DatabaseSession.open(storage.database.address);
    closers.push(async () => session.close());
    const clock = await ClockWatch.start(session.sql, log);
    closers.push(async () => clock.stop());
    const { database, diskSpace } = storage;
    const { app, sweeps } = await buildApp({ config, database, diskSpace, changes, session, clock, log });
    closers.push(async () => {
      const cutOff = setTimeout(() => app.server.closeAllConnections(), drainMs).unref();
      await app.close();
      clearTimeout(cutOff);
    });
    const stopHousekeeping = startHousekeeping({ sweeps, clock, log });
    closers.push(async () => stopHousekeeping());
    // After everything that can fail but the listening, and under the lock of the migrations.
    let firstKey: NewKey | null = null;
    let linkToken: string | null = null;
    await migrate(storage.database, async (sql) => {
      const { made, key } = await ensureFirstAccount(sql, config.adminKey);
      firstKey = key;
      // Who starts an embedded database has the machine; where the database is elsewhere, many may read what a start prints.
      if (made || config.databaseUrl === null) linkToken = await firstLink(sql);
    });
    await app.listen({ host: config.host, port: config.port }).catch((error: NodeJS.ErrnoException) => {
      throw new StartError(`${cannotListen(config.host, config.port, error.code)}${keyInWords(firstKey)}`, {
        cause: error,
      });
    });
    const url = listeningUrl(app.server.address(), config);
    const consoleLink = linkToken === null ? null : `${config.publicUrl || url}${linkPath(linkToken)}`;
    return { url, place: storage.place, firstKey, consoleLink, failed: storage.died, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function firstLink(sql: Sql): Promise<string | null> {
  const first = await findFirstSuperManager(sql, 'enabled');
  return first === null ? null : makeLink(sql, first);
}

/** Before anything is touched: a server that cannot listen must not make a database or a key nobody gets to see. */
async function refuseTakenPort({ host, port }: Config): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(new StartError(cannotListen(host, port, error.code), { cause: error })),
    );
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** A key that was made is shown, even if it is all that was done. */
function keyInWords(key: NewKey | null): string {
  return key === null ? '' : ` The first API key, shown this once, is ${key.id} with the secret ${key.secret}.`;
}

function cannotListen(host: string, port: number, code: string | undefined): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken. Stop what uses it, or set PORT to another.`;
    case 'EACCES':
      return `Port ${port} needs privileges that this user lacks. Set PORT to 1024 or above.`;
    default:
      return `Cannot listen on ${host} port ${port} (${code ?? 'unknown reason'}). Set HOST to an address of this machine.`;
  }
}
