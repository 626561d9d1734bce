import { setTimeout as sleep } from 'node:timers/promises';
import type { ISql, PendingQuery, Row, Sql as PoolSql } from 'postgres';
import { watchPool, type WatchedPool } from './pool-watch.ts';
import { pools, type ClientOptions, type PoolOptions, type SessionSettings } from './pools.ts';
import postgres, { type PoolLoad, type Watchable } from './postgres.ts';
import type { Transaction } from './postgres-transactions.ts';
import { Pulse } from './pulse.ts';
import { processName } from '../process-name.ts';

/** Runs statements: the pool, or the connection of a transaction. Stores take it as their first argument. */
export type Sql = ISql;

/** A fragment of a statement. */
export type Piece = PendingQuery<Row[]>;

/**
 * A fragment without parameters, created once and used in any number of statements. Each `sql` creates a promise in the driver,
 * so a hot statement made of many fragments shares them.
 */
export function piece(make: (sql: Sql) => Piece): (sql: Sql) => Piece {
  let made: Piece | null = null;
  return (sql) => (made ??= make(sql));
}

/** The address of a PostgreSQL: the user's URL, or the socket of the embedded one. */
export type DatabaseAddress =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'socket'; readonly directory: string; readonly user: string; readonly database: string };

export interface NamedPool {
  readonly name: string;
  readonly size: number;
  readonly load: () => PoolLoad;
}

export interface Database {
  readonly address: DatabaseAddress;
  /** The pool for requests. */
  readonly sql: PoolSql;
  readonly pulse: Pulse;
  /** Opens another pool for work that must not wait behind requests. The caller ends the pool. */
  connect(options: PoolOptions): PoolSql;
  /** The open pools that have a name. */
  readonly named: Iterable<NamedPool>;
  /** Waits for running statements, `graceMs` at most, and closes every connection. */
  close(graceMs?: number): Promise<void>;
}

/** No statement runs longer. Waiting longer for a lock is a fault to report. */
const statementTimeoutMs = 15_000;
/** After `statement_timeout`, PostgreSQL has this time to report the cancellation. Then the connection is destroyed. */
const cancelMs = 2_000;
const connectTimeoutSec = 5;

/**
 * The limit for a whole transaction, including the wait for a connection. A longer transaction has silently lost its server, or
 * is a bug; it must not hold its locks forever.
 */
const longestTransactionMs = 20_000;

/** The pause before a retry. The winner of the deadlock has finished by then; an immediate retry could lose again. */
const lostRaceMs = 50;

/** The settings of every connection. */
export const sessionSettings = {
  // In other time zones old instants have offsets with seconds, which JavaScript cannot parse.
  TimeZone: 'UTC',
  // Statements are small and many. Those with `enable_seqscan = off` look expensive to the planner, and compiling an expensive
  // statement takes as long as running it a thousand times.
  jit: 'off',
  statement_timeout: statementTimeoutMs,
  idle_in_transaction_session_timeout: statementTimeoutMs,
} satisfies SessionSettings;

/** The driver's own definition, except for `instantFrom`. */
const instants = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: Date | string) => (value instanceof Date ? value : new Date(value)).toISOString(),
  parse: instantFrom,
};

/**
 * PostgreSQL's format, `2027-01-31 09:00:00+00`, is not ISO 8601: JavaScript reads years before 100 as others (1 as 2001), or not
 * at all. The time is in UTC, by our session settings.
 */
function instantFrom(text: string): Date {
  if (!text.startsWith('00')) return new Date(text);
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}

/** Opens a pool. Most callers need `openDatabase`, whose pools reject statements while the database does not respond. */
export function connect(address: DatabaseAddress, options: PoolOptions): PoolSql {
  return open(address, options).sql;
}

function open(address: DatabaseAddress, options: PoolOptions): { sql: PoolSql; watched: WatchedPool } {
  const { connection = {}, statementDeadlineMs, name: _name, ...rest } = options;
  const settings: SessionSettings = { ...sessionSettings, ...connection };
  const shared: ClientOptions = {
    connect_timeout: connectTimeoutSec,
    onnotice: () => undefined,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    ...rest,
    types: { instants },
    connection: { application_name: processName },
  };
  const sql =
    address.kind === 'url'
      ? connectUrl(address.url, shared)
      : postgres({ ...shared, host: address.directory, user: address.user, database: address.database });
  (sql as PoolSql & Watchable).options.settings = settingStatement(settings);
  const watched = watchPool(sql, statementDeadlineMs ?? deadlineOf(settings));
  const end = sql.end.bind(sql);
  sql.end = async (given) => end(given).finally(() => watched.stop());
  return { sql, watched };
}

/** `null` if statements have no time limit. */
function deadlineOf({ statement_timeout: timeoutMs }: SessionSettings): number | null {
  return Number(timeoutMs) === 0 ? null : Number(timeoutMs) + cancelMs;
}

/** Names and values come from this program and contain no quotes. */
function settingStatement(settings: SessionSettings): string {
  const each = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `SELECT ${each.join(', ')}`;
}

/** Supports libpq's notation for a socket, `postgres://user@localhost/database?host=/directory`, which postgres.js lacks. */
function connectUrl(text: string, options: ClientOptions): PoolSql {
  const url = new URL(text);
  const directory = url.searchParams.get('host');
  if (directory === null) return postgres(text, options);
  url.searchParams.delete('host');
  return postgres(url.href, { ...options, host: directory });
}

export function openDatabase(address: DatabaseAddress, poolSize: number): Database {
  const watchedPools = new Set<WatchedPool>();
  const named = new Set<NamedPool>();
  const own = open(address, pools.pulse);
  const pulse = new Pulse(own.sql, own.watched, watchedPools);
  const openPool = (options: PoolOptions): PoolSql => {
    const { sql, watched } = open(address, options);
    watched.refuseWhile(() => pulse.isSilent);
    watchedPools.add(watched);
    const { name, max: size = 1 } = options;
    if (name !== undefined) named.add({ name, size, load: () => watched.load() });
    return sql;
  };
  const sql = openPool({ name: 'requests', max: poolSize });
  return {
    address,
    sql,
    pulse,
    connect: openPool,
    named,
    async close(graceMs = 5_000) {
      await Promise.all([sql.end({ timeout: graceMs / 1000 }), pulse.stop()]);
    },
  };
}

interface TransactionOptions {
  readonly longestMs?: number;
  /** What happens after PostgreSQL rolled the transaction back in favour of another. */
  readonly afterLostRace?: 'try once more' | 'reject';
}

/**
 * Waits for the last statements of a transaction. COMMIT is sent with them, which saves a round trip. If one of them fails, all is rolled
 * back. Each promise must be of one statement that is sent at once: one that is sent later comes after COMMIT, and is refused. What `run`
 * throws afterwards no longer undoes anything.
 */
export type Finish = (statements: readonly Promise<unknown>[]) => Promise<void>;

type Run<T> = (sql: Sql, finish: Finish) => Promise<T>;

/** For a transaction of the caller, who may send more statements. */
const leaveOpen: Finish = async (statements) => void (await Promise.all(statements));

async function finish(own: Transaction, statements: readonly Promise<unknown>[]): Promise<void> {
  let hasFailed = false;
  const all = Promise.all(statements);
  all.catch(() => {
    hasFailed = true;
  });
  // By then the statements have been sent, or have failed without being sent.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await Promise.all([all, hasFailed ? undefined : own.sendCommit()]);
}

/**
 * Runs `run` in one transaction: in the caller's, if there is one. BEGIN is sent with the first statement, and the statements sent
 * together with that one wait for its response. Otherwise statements that do not await one another share a round trip once the
 * connection has prepared them. COMMIT takes one of its own, unless `run` calls `finish`.
 *
 * `inTransaction` rejects if the connection is lost at any moment, including the COMMIT, whose outcome is then unknown. It also
 * rejects after `longestMs`, including the wait for a connection. After it has settled, `run` cannot change anything; `run` has
 * settled too, unless the time limit was exceeded.
 *
 * A transaction that lost a deadlock runs once more. Therefore `run` must change nothing that a rollback does not undo, or the
 * caller sets `afterLostRace: 'reject'`.
 */
export async function inTransaction<T>(
  sql: Sql,
  run: Run<T>,
  { longestMs = longestTransactionMs, afterLostRace = 'try once more' }: TransactionOptions = {},
): Promise<T> {
  if (!isPool(sql)) return run(sql, leaveOpen);
  const deadline = performance.now() + longestMs;
  try {
    return await runOnce(sql, run, longestMs);
  } catch (error) {
    if (afterLostRace === 'reject' || !isLostRace(error)) throw error;
  }
  await sleep(lostRaceMs);
  return runOnce(sql, run, deadline - performance.now());
}

async function runOnce<T>(sql: PoolSql, run: Run<T>, longestMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  let abandon: (() => void) | undefined;
  let running: Promise<T> | undefined;
  let isOver = false;
  const deadline = setTimeout(() => {
    isOver = true;
    abandon?.();
    late.reject(lostConnection('the transaction took too long'));
  }, longestMs);
  try {
    const transaction = sql.begin(async (driverSql) => {
      const own = driverSql as typeof driverSql & Transaction;
      // The connection came after the deadline, and the caller was already rejected.
      if (isOver) throw lostConnection('the transaction began after its deadline');
      abandon = () => own.abandon();
      running = run(
        fenced(own, () => isOver),
        async (statements) => finish(own, statements),
      ).finally(() => {
        isOver = true;
      });
      return running;
    });
    // postgres.js types the result for arrays of pending queries, which `run` never returns.
    return (await Promise.race([transaction, late.promise])) as T;
  } finally {
    // A lost connection rejects at once while `run` is still running; all its statements are rejected, so it ends soon. Without
    // this wait, `run` could run beside what its caller does next (`request.sql` is the pool again by then).
    isOver = true;
    await Promise.race([Promise.allSettled([running]), late.promise.catch(() => undefined)]);
    clearTimeout(deadline);
  }
}

function lostConnection(message: string): Error {
  return Object.assign(new Error(message), { code: 'CONNECTION_CLOSED' });
}

/**
 * Rejects statements that a branch of `run` sends after `run` has settled, because they would run outside of the transaction.
 * The driver (`postgres.ts`) ensures that none reaches another connection after a loss.
 */
function fenced(sql: Sql, isOver: () => boolean): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      if (isOver()) throw lostConnection('the transaction is over');
      return Reflect.apply(target as unknown as (...given: unknown[]) => unknown, self, args);
    },
  });
}

/** Whether statements run outside of a transaction of the caller. */
export function isPool(sql: Sql): sql is PoolSql {
  return 'begin' in sql;
}

/** The SQLSTATE of an error from PostgreSQL, or the code of a failed connection; `null` for any other error. */
export function databaseErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code;
}

/** The violated constraint, if the error names one. */
export function violatedConstraint(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? (error.constraint_name ?? null) : null;
}

const lostRace = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);

/** Whether PostgreSQL rolled the transaction back in favour of another. */
function isLostRace(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && lostRace.has(code);
}

const outOfRoom = new Set([
  '53100', // disk_full
]);

/** Whether the disk of the database is full. */
export function isDiskFull(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && outOfRoom.has(code);
}

/** Whether the database is read-only: it is a standby, or `WriteSwitch` stopped writes because its disk is full. */
export function isReadOnly(error: unknown): boolean {
  const code = databaseErrorCode(error);
  // A standby also refuses to read unlogged tables, with the code feature_not_supported.
  return code === '25006' || (code === '0A000' && error instanceof Error && error.message.includes('recovery'));
}

const timedOut = '57014'; // query_canceled, by our own statement_timeout

/** Whether PostgreSQL has ended the statement because it took too long. Nothing of it was stored. */
export function isTimedOut(error: unknown): boolean {
  return databaseErrorCode(error) === timedOut;
}

/** Whether PostgreSQL has ended the statement because it waited for a lock for longer than `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return databaseErrorCode(error) === '55P03';
}

const unavailable = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '25006', // read_only_sql_transaction
  '53200', // out_of_memory
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  timedOut,
  ...lostRace,
  ...outOfRoom,
]);

/** Whether the database was unreachable or read-only, so that the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return (code !== null && unavailable.has(code)) || isReadOnly(error);
}
