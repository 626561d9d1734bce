import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../packages/server/src/platform/database.ts';
import { startEmbeddedPostgres } from '../../packages/server/src/platform/embedded-postgres.ts';
import { migrate } from '../../packages/server/src/platform/migrations.ts';
import { startProcesses, type Cluster } from './cluster.ts';

/** Where Debian, Fedora and a build from source put libfaketime. */
const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib64/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
];

/** Whose wall clock is stepped. Monotonic clocks are not, as when somebody sets the time of a machine. */
export type WhoseClock = 'database' | 'process' | 'both';

/** Usher processes on a PostgreSQL of their own, whose wall clocks a test can step while they run. */
export interface SteppedCluster extends Cluster {
  /** From now on the clock is so many seconds ahead of the machine's. */
  set(whose: WhoseClock, aheadSec: number): void;
}

export async function startSteppedCluster(count: number): Promise<SteppedCluster> {
  const library = libraries.find((path) => existsSync(path));
  if (library === undefined) throw new Error('libfaketime is missing: install the package "faketime"');
  const directory = mkdtempSync(join(tmpdir(), 'usher-clocks-'));
  // PostgreSQL runs as another user, who reads the file too.
  chmodSync(directory, 0o755);
  const fileOf = (whose: 'database' | 'process'): string => join(directory, `${whose}-clock`);
  const setOne = (whose: 'database' | 'process', aheadSec: number): void => {
    // Renamed into place: a file that is half written would be one more step.
    writeFileSync(`${fileOf(whose)}.new`, `${aheadSec < 0 ? '' : '+'}${aheadSec}\n`, { mode: 0o644 });
    renameSync(`${fileOf(whose)}.new`, fileOf(whose));
  };
  const set = (whose: WhoseClock, aheadSec: number): void => {
    if (whose !== 'process') setOne('database', aheadSec);
    if (whose !== 'database') setOne('process', aheadSec);
  };
  set('both', 0);
  const faked = (whose: 'database' | 'process') => ({
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: fileOf(whose),
    FAKETIME_NO_CACHE: '1',
    // What it shares between processes belongs to the user who started it, and PostgreSQL runs as another.
    FAKETIME_DISABLE_SHM: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-clocks-data-'));
  // Otherwise a root test would start PostgreSQL through setpriv, whose semaphore (libfaketime) PostgreSQL may not open.
  chmodSync(dataDir, 0o755);
  const postgres = await withEnvironment(faked('database'), async () =>
    startEmbeddedPostgres(dataDir, { fsync: 'off', max_connections: '200' }),
  );
  const database = openDatabase(postgres.address, 4);
  await migrate(database, ensureSigningKey);
  const cluster = await startProcesses(database, {
    count,
    environment: {
      USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      USHER_LOG_LEVEL: 'warn',
      ...faked('process'),
    },
    async cleanUp() {
      await postgres.stop();
      for (const path of [directory, dataDir]) rmSync(path, { recursive: true, force: true });
    },
  });
  return { ...cluster, set };
}

/** What is started meanwhile inherits it. */
async function withEnvironment<T>(more: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, more);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(more)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}
