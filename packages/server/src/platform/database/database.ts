import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from './driver/address.ts';
import { databaseErrorCode, isLostRace, lostConnection, NotConnected } from './driver/errors.ts';
import { watchPool } from './driver/pool-watch.ts';
import { createPoolSql, type PoolSql } from './driver/pool-sql.ts';
import { Pool, type PoolLoad } from './driver/pool.ts';
import type { Sql, Statement } from './driver/template.ts';
import type { TransactionSql } from './driver/transaction.ts';
import { pools, type PoolOptions, type SessionSettings } from './pools.ts';
import { Pulse } from './pulse.ts';
import { processName } from '../process-name.ts';

export type { DatabaseAddress } from './driver/address.ts';
export { databaseErrorCode, violatedConstraint } from './driver/errors.ts';
export type { PoolSql } from './driver/pool-sql.ts';
export type { Sql } from './driver/template.ts';
export type { JsonValue, Value } from './driver/values.ts';

/** A fragment of a statement. */
export type SqlFragment = Statement;

/**
 * A fragment without parameters, created once and used in any number of statements: a hot statement made of many fragments shares them.
 */
export function fragment(make: (sql: Sql) => SqlFragment): (sql: Sql) => SqlFragment {
  let made: SqlFragment | null = null;
  return (sql) => (made ??= make(sql));
}

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

/** Opens a pool. Most callers need `openDatabase`, whose pools reject statements while the database does not respond. */
export function connect(address: DatabaseAddress, options: PoolOptions): PoolSql {
  return open(address, options).sql;
}

const hourSec = 3_600;

function open(address: DatabaseAddress, options: PoolOptions): { sql: PoolSql; pool: Pool } {
  const settings: SessionSettings = { ...sessionSettings, ...options.connection };
  const pool = new Pool({
    address,
    applicationName: processName,
    settings,
    size: options.max,
    connectTimeoutMs: (options.connect_timeout ?? connectTimeoutSec) * 1_000,
    idleTimeoutMs: (options.idle_timeout ?? 0) * 1_000,
    // The connections of a process are not replaced at the same time.
    maxLifetimeMs:
      (options.max_lifetime === undefined ? (hourSec / 2) * (1 + Math.random()) : (options.max_lifetime ?? 0)) * 1_000,
    backoffMs: options.backoffMs ?? ((failures) => Math.min(50 * 2 ** failures, 1_000)),
    onNotification: options.onNotification ?? (() => undefined),
    onConnectionClosed: options.onConnectionClosed ?? (() => undefined),
    onStatement: options.onStatement ?? (() => undefined),
  });
  const stopWatch = watchPool(pool, options.statementDeadlineMs ?? deadlineOf(settings));
  const sql = createPoolSql(pool, options.prepare === false ? 'unprepared' : 'prepared');
  const end: PoolSql['end'] = async ({ timeout } = {}) => pool.end(timeout ?? null).finally(stopWatch);
  return { pool, sql: Object.assign(sql, { end }) };
}

/** `null` if statements have no time limit. */
function deadlineOf({ statement_timeout: timeoutMs }: SessionSettings): number | null {
  return Number(timeoutMs) === 0 ? null : Number(timeoutMs) + cancelMs;
}

export function openDatabase(address: DatabaseAddress, poolSize: number): Database {
  const watched = new Set<Pool>();
  const named = new Set<NamedPool>();
  const own = open(address, pools.pulse);
  const pulse = new Pulse(own.sql, own.pool, watched);
  const openPool = (options: PoolOptions): PoolSql => {
    const { sql, pool } = open(address, options);
    pool.refuseWhile(() => pulse.isSilent);
    watched.add(pool);
    const { name, max: size } = options;
    if (name !== undefined) named.add({ name, size, load: () => pool.load() });
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

async function finish(own: TransactionSql, statements: readonly Promise<unknown>[]): Promise<void> {
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
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    abandon?.();
    late.reject(lostConnection('the transaction took too long'));
  }, longestMs);
  try {
    const transaction = sql.begin(async (own) => {
      // The connection came after the deadline, and the caller was already rejected.
      if (isLate) throw lostConnection('the transaction began after its deadline');
      abandon = () => own.abandon();
      running = run(own, async (statements) => finish(own, statements));
      return running;
    });
    return await Promise.race([transaction, late.promise]);
  } finally {
    // A lost connection rejects at once while `run` is still running; all its statements are rejected, so it ends soon. Without
    // this wait, `run` could run beside what its caller does next (`request.sql` is the pool again by then).
    await Promise.race([Promise.allSettled([running]), late.promise.catch(() => undefined)]);
    clearTimeout(deadline);
  }
}

/** Whether statements run outside of a transaction of the caller. */
export function isPool(sql: Sql): sql is PoolSql {
  return 'begin' in sql;
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

const moving = 'UM001'; // raised by refuse_moving (0052_moving_accounts.sql)

/** Whether the account is fenced, because it is being moved to another installation. Nothing of the statement was stored. */
export function isAccountMoving(error: unknown): boolean {
  return databaseErrorCode(error) === moving;
}

const unavailable = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
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
  moving,
  timedOut,
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  ...outOfRoom,
]);

/** Whether the database was unreachable or refuses changes, so that the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return error instanceof NotConnected || (code !== null && unavailable.has(code)) || isReadOnly(error);
}
