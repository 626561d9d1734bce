import { urlOf, urlsOf, type UserDatabase } from './config-database.ts';
import type { Config } from './config.ts';
import { databaseErrorCode, openDatabase, type Database } from './platform/database/database.ts';
import { DiskWatch, refuseFullDisk, type DiskSpace } from './platform/embedded/disk-watch.ts';
import { superviseEmbeddedPostgres } from './platform/embedded/embedded-supervisor.ts';
import { makeDataDirectory, runningEmbeddedPostgres } from './platform/embedded/embedded-postgres.ts';
import { StartError } from './platform/errors.ts';
import { createLog, type Log } from './platform/log.ts';
import { requestConnections } from './platform/database/pools.ts';
import { refuseSharedSessions } from './platform/database/session-check.ts';
import { WriteSwitch } from './platform/embedded/write-switch.ts';

/** An open connection to the database that the settings name. */
export interface Storage {
  readonly database: Database;
  /** Where the database is, for people to read. */
  readonly location: string;
  /** Free space of the embedded database; `null` for an external database, whose disk Usher cannot see. */
  readonly diskSpace: DiskSpace | null;
  /** Resolves with the reason if the embedded server exits and cannot be restarted. */
  readonly died: Promise<string>;
  close(): Promise<void>;
}

const never = new Promise<string>(() => undefined);

/** Opens the user's PostgreSQL, or starts the embedded one and calls `meanwhile` as it starts. */
export async function openStorage(config: Config, log: Log, meanwhile?: () => void): Promise<Storage> {
  return config.userDatabase === null ? openEmbedded(config, log, meanwhile) : openOwn(config, config.userDatabase);
}

/** For CLI commands: uses the embedded database of a running server if there is one, otherwise opens the database itself. */
export async function joinStorage(config: Config): Promise<Storage> {
  const running = config.userDatabase === null ? runningEmbeddedPostgres(config.dataDir) : null;
  if (running === null) return openStorage(config, createLog('silent'));
  const database = openDatabase(running, requestConnections(config));
  const close = async (): Promise<void> => database.close(1_000);
  return { database, location: embeddedLocation(config), diskSpace: null, died: never, close };
}

function embeddedLocation({ dataDir }: Config): string {
  return `${dataDir} (embedded PostgreSQL)`;
}

async function openEmbedded(config: Config, log: Log, meanwhile?: () => void): Promise<Storage> {
  makeDataDirectory(config.dataDir);
  await refuseFullDisk(config.dataDir);
  const disk = new DiskWatch(config.dataDir);
  const closers: (() => Promise<void>)[] = [async () => disk.stop()];
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).toReversed()) await each();
  };
  try {
    const embedded = await superviseEmbeddedPostgres(config.dataDir, { disk, log, meanwhile });
    closers.push(async () => embedded.stop());
    const writes = new WriteSwitch(embedded.address, disk, log);
    closers.push(async () => writes.stop());
    await writes.set();
    const database = openDatabase(embedded.address, requestConnections(config));
    closers.push(async () => database.close(1_000));
    return { database, location: embeddedLocation(config), diskSpace: disk, died: embedded.gaveUp, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openOwn(config: Config, own: UserDatabase): Promise<Storage> {
  const address = urlsOf(urlOf(own)).map(nameOf).join(' or ');
  const database = openDatabase(own, requestConnections(config));
  try {
    await database.sql`SELECT 1`;
  } catch (cause) {
    await database.close(0);
    throw new StartError(describeConnectError(address, cause), { cause });
  }
  try {
    await refuseSharedSessions(database.address);
  } catch (error) {
    await database.close(0);
    throw error;
  }
  return {
    database,
    location: `PostgreSQL at ${address}`,
    diskSpace: null,
    died: never,
    close: async () => database.close(1_000),
  };
}

/** The address without the password. */
function nameOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`;
}

function describeConnectError(address: string, error: unknown): string {
  const code = databaseErrorCode(error);
  switch (code) {
    case '28P01':
      return `The database at ${address} rejects the user or password of DATABASE_URL. Correct them.`;
    case '28000':
      return `The database at ${address} rejects the user, the password, the certificate (sslcert, sslkey) or the lack of TLS (sslmode) of DATABASE_URL. Correct them; its pg_hba.conf has the rules.`;
    case 'CERT_HAS_EXPIRED':
      return `The certificate of the database at ${address} has expired. Renew it.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of the database at ${address} is for another host. Name the host as the certificate does, or set sslmode=verify-ca with sslrootcert.`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return `The certificate of the database at ${address} is not signed by an authority that Usher trusts. Name the file with the authority's certificate by sslrootcert in DATABASE_URL.`;
    case '3D000':
      return `The database at ${address} does not exist. Create it, or correct DATABASE_URL.`;
    case '25006':
      return `The database at ${address} is read-only, which target_session_attrs of DATABASE_URL excludes. Name the primary.`;
    default:
      return `The database at ${address} cannot be reached (${code ?? (error as Error).message}). Start it, or correct DATABASE_URL.`;
  }
}
