import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { choosePostgresUser, type PostgresUser } from '../../../packages/server/src/platform/embedded/postgres-user.ts';
import { until } from '../server.ts';

/** The oldest major version that Usher supports: `platform/database/migrations/migrations.ts` refuses older servers. */
export const oldestMajor = 15;

/** Where packages install the programs of that version. The variable is for machines that have them elsewhere. */
const folders = [
  process.env[`POSTGRES_${oldestMajor}_BIN`] ?? '',
  `/usr/lib/postgresql/${oldestMajor}/bin`,
  `/usr/pgsql-${oldestMajor}/bin`,
  `/opt/homebrew/opt/postgresql@${oldestMajor}/bin`,
  `/usr/local/opt/postgresql@${oldestMajor}/bin`,
];

/** The folder with the programs of the oldest supported PostgreSQL; `null` where none is installed. */
export function findOldestPostgres(): string | null {
  return folders.find((folder) => folder !== '' && existsSync(join(folder, 'postgres'))) ?? null;
}

/** Programs that read a whole database take seconds. */
const programPatienceMs = 120_000;

/**
 * Runs a program of the oldest supported PostgreSQL on a cluster reached by a socket. The test goes on meanwhile: `pg_dump`
 * may wait for a lock that a server in the test's own process holds.
 */
export async function runOldestProgram(
  name: string,
  at: { readonly directory: string; readonly user: string },
  args: readonly string[],
): Promise<void> {
  const program = join(findOldestPostgres() ?? '', name);
  await promisify(execFile)(program, ['-h', at.directory, '-U', at.user, ...args], { timeout: programPatienceMs });
}

export interface OldestPostgres {
  readonly address: DatabaseAddress & { readonly kind: 'socket' };
  stop(): Promise<void>;
}

const user = 'usher';
const startPatienceMs = 60_000;

/**
 * The oldest supported PostgreSQL in `dataDir`, reached by a socket, as `startEmbeddedPostgres` starts the newest. A folder
 * that was used before gives the same cluster. The embedded database compares texts byte by byte; a user's own rarely
 * does, so this one sorts as people do (ICU, English).
 */
export async function startOldestPostgres(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<OldestPostgres> {
  const folder = findOldestPostgres();
  if (folder === null) {
    throw new Error(
      `PostgreSQL ${oldestMajor} was not found. Install it, or name the folder of its programs by POSTGRES_${oldestMajor}_BIN.`,
    );
  }
  const cluster = join(dataDir, 'postgres');
  const sockets = join(dataDir, 'run');
  const program = join(folder, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  const runner = choosePostgresUser(dataDir, program);
  for (const directory of [cluster, sockets]) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (runner.owner !== null) chownSync(directory, runner.owner.uid, runner.owner.gid);
  }

  if (!existsSync(join(cluster, 'PG_VERSION'))) await createCluster(cluster, join(folder, 'initdb'), runner);

  const allSettings = {
    listen_addresses: '',
    unix_socket_directories: sockets,
    max_connections: '200',
    wal_level: 'minimal',
    max_wal_senders: '0',
    ...settings,
  };
  const flags = Object.entries(allSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = runner.run(program, ['-D', cluster, ...flags], ['ignore', 'ignore', 'ignore'], false);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    server.ref();
    server.kill('SIGINT');
    await ended;
  };
  // A test that fails before it stops the server must neither wait for it nor leave it behind.
  server.unref();
  process.once('exit', () => server.kill('SIGQUIT'));
  await until(() => isReady(cluster, server.pid) || server.exitCode !== null, startPatienceMs);
  if (server.exitCode !== null) throw new Error(`PostgreSQL ${oldestMajor} ended with code ${server.exitCode}`);
  return { address: { kind: 'socket', directory: sockets, user, database: 'postgres' }, stop };
}

async function createCluster(cluster: string, program: string, runner: PostgresUser): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'];
  const options = ['-D', cluster, '-U', user, '--auth=trust', '--no-sync', ...locale];
  const initdb = runner.run(program, options, ['ignore', 'ignore', 'pipe'], false);
  const complaint = initdb.stderr === null ? '' : await text(initdb.stderr);
  if (!existsSync(join(cluster, 'PG_VERSION'))) throw new Error(`initdb failed: ${complaint}`);
}

/** Line 1 of `postmaster.pid` is the process id, and line 8 says whether the server accepts connections. */
function isReady(cluster: string, pid: number | undefined): boolean {
  const file = join(cluster, 'postmaster.pid');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}
