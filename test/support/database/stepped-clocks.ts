import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { startEmbeddedPostgres } from '../../../packages/server/src/platform/embedded/embedded-postgres.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startProcesses, type Cluster } from '../processes/cluster.ts';

/** Where Debian, Fedora and a build from source put libfaketime. */
const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib64/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
];

/** Whose wall clock is stepped. Monotonic clocks are not, as when the time of a machine is set. */
export type WhoseClock = 'database' | 'process' | 'both';

/** Usher processes on a PostgreSQL of their own, whose wall clocks a test can step while they run. */
export interface SteppedCluster extends Cluster {
  /** Sets the clock this many seconds ahead of the machine's clock. */
  set(whose: WhoseClock, aheadSec: number): void;
}

/**
 * libfaketime adds the offset in a file to the clock of a process. PostgreSQL's clock follows the modification time of a file
 * instead: PostgreSQL also reads the clock in a signal handler, where opening a file is unsafe and crashed a backend now and then.
 */
export async function startSteppedCluster(
  count: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<SteppedCluster> {
  const library = libraries.find((path) => existsSync(path));
  if (library === undefined) throw new Error('libfaketime is missing: install the package "faketime"');
  const directory = mkdtempSync(join(tmpdir(), 'usher-clocks-'));
  // PostgreSQL runs as another user, who must be able to read the files.
  chmodSync(directory, 0o755);
  const common = {
    LD_PRELOAD: library,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-clocks-data-'));
  // Otherwise a root test would start PostgreSQL through setpriv, whose semaphore (libfaketime) PostgreSQL may not open.
  chmodSync(dataDir, 0o755);
  const databaseClock = join(directory, 'database-clock');
  // PostgreSQL's clock shows this time plus how long it has been running.
  let startedAtSec = Math.round(Date.now() / 1_000);
  const setDatabase = (aheadSec: number): void =>
    utimesSync(databaseClock, startedAtSec + aheadSec, startedAtSec + aheadSec);
  writeFileSync(databaseClock, '', { mode: 0o644 });
  setDatabase(0);
  const following = { FAKETIME: '%', FAKETIME_FOLLOW_FILE: databaseClock, FAKETIME_DONT_RESET: '1' };
  const postgres = await withEnvironment({ ...common, ...following }, async () =>
    startEmbeddedPostgres(dataDir, { fsync: 'off', max_connections: '200' }),
  );
  const database = openDatabase(postgres.address, 4);
  const [clock] = await database.sql<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  startedAtSec += Math.round((Date.now() - (clock?.now.getTime() ?? Number.NaN)) / 1_000);
  setDatabase(0);
  await migrate(database, ensureSigningKey);
  const processClock = join(directory, 'process-clock');
  const setProcess = (aheadSec: number): void => {
    // Written and then renamed: a half-written file would be another step of the clock.
    writeFileSync(`${processClock}.new`, `${aheadSec < 0 ? '' : '+'}${aheadSec}\n`);
    renameSync(`${processClock}.new`, processClock);
  };
  setProcess(0);
  const cluster = await startProcesses(database, {
    count,
    environment: {
      USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      USHER_LOG_LEVEL: 'warn',
      ...common,
      FAKETIME_TIMESTAMP_FILE: processClock,
      ...environment,
    },
    async cleanUp() {
      await postgres.stop();
      for (const path of [directory, dataDir]) rmSync(path, { recursive: true, force: true });
    },
  });
  const set = (whose: WhoseClock, aheadSec: number): void => {
    if (whose !== 'process') setDatabase(aheadSec);
    if (whose !== 'database') setProcess(aheadSec);
  };
  return { ...cluster, set };
}

/** Runs a function with more environment variables, which the processes it starts inherit. */
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
