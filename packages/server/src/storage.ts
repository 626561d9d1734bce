import type { Config } from './config.ts';
import { databaseErrorCode, openDatabase, type Database, type DatabaseAddress } from './platform/database.ts';
import { runningEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from './platform/embedded-postgres.ts';
import { StartError } from './platform/errors.ts';
import { refuseSharedSessions } from './platform/session-check.ts';

/** The database the settings name, reached and answering. */
export interface Storage {
  readonly database: Database;
  /** What to tell the user about where it is. */
  readonly place: string;
  /** Resolves if the embedded server ends by itself. */
  readonly died: Promise<string>;
  close(): Promise<void>;
}

const never = new Promise<string>(() => undefined);

/** Opens the user's PostgreSQL, or starts the embedded one. */
export async function openStorage(config: Config): Promise<Storage> {
  if (config.databaseUrl !== null) return openUrl(config, config.databaseUrl);
  const embedded = await startEmbeddedPostgres(config.dataDir);
  return openSocket(config, embedded.address, embedded);
}

/** For commands beside a running server: uses its database where there is one, else opens it for a moment. */
export async function joinStorage(config: Config): Promise<Storage> {
  const running = config.databaseUrl === null ? runningEmbeddedPostgres(config.dataDir) : null;
  return running === null ? openStorage(config) : openSocket(config, running, null);
}

async function openSocket(
  config: Config,
  address: DatabaseAddress,
  embedded: EmbeddedPostgres | null,
): Promise<Storage> {
  const database = openDatabase(address, config.databasePoolSize);
  return {
    database,
    place: `${config.dataDir} (embedded PostgreSQL)`,
    died: embedded?.died ?? never,
    async close() {
      await database.close(1_000);
      await embedded?.stop();
    },
  };
}

async function openUrl(config: Config, url: string): Promise<Storage> {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const place = `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`;
  const database = openDatabase({ kind: 'url', url }, config.databasePoolSize);
  try {
    await database.sql`SELECT 1`;
  } catch (cause) {
    await database.close(0);
    throw new StartError(unreachable(place, databaseErrorCode(cause)), { cause });
  }
  try {
    await refuseSharedSessions(database.address);
  } catch (error) {
    await database.close(0);
    throw error;
  }
  return { database, place: `PostgreSQL at ${place}`, died: never, close: async () => database.close(1_000) };
}

function unreachable(place: string, code: string | null): string {
  switch (code) {
    case '28P01':
    case '28000':
      return `The database at ${place} refuses the user or password of DATABASE_URL. Correct them.`;
    case '3D000':
      return `The database at ${place} does not exist. Create it, or correct DATABASE_URL.`;
    default:
      return `The database at ${place} cannot be reached (${code ?? 'unknown reason'}). Start it, or correct DATABASE_URL.`;
  }
}
