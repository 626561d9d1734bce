import { setTimeout as sleep } from 'node:timers/promises';
import type { ISql, PendingQuery, Row, Sql as PoolSql } from 'postgres';
import { watchPool, type WatchedPool } from './pool-watch.ts';
import { pools, type ClientOptions, type PoolOptions, type SessionSettings } from './pools.ts';
import postgres, { type Abandonable, type Watchable } from './postgres.ts';
import { Pulse } from './pulse.ts';

/** What a statement needs: the pool, or the one connection of a transaction. Stores take it as their first argument. */
export type Sql = ISql;

/** A part of a statement. */
export type Piece = PendingQuery<Row[]>;

/**
 * A part without parameters, made once and put into any number of statements. Each `sql` is a promise of the driver's with
 * all it takes, so a hot statement made of many would rather share them.
 */
export function piece(make: (sql: Sql) => Piece): (sql: Sql) => Piece {
  let made: Piece | null = null;
  return (sql) => (made ??= make(sql));
}

/** Where a PostgreSQL is: a URL of the user's, or the socket of the embedded one. */
export type DatabaseAddress =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'socket'; readonly directory: string; readonly user: string; readonly database: string };

export interface Database {
  readonly address: DatabaseAddress;
  /** The pool for requests. */
  readonly sql: PoolSql;
  readonly pulse: Pulse;
  /** Opens another pool for work that must not wait behind requests. The caller ends the pool. */
  connect(options: PoolOptions): PoolSql;
  /** Waits for running statements, `graceMs` at most, and lets go of every connection. */
  close(graceMs?: number): Promise<void>;
}

/** No statement of ours runs longer; a lock that is waited for longer than this is a fault to report, not to sit out. */
const statementTimeoutMs = 15_000;
/** PostgreSQL has so long to say that a statement was too long. A connection without that answer is destroyed. */
const cancelMs = 2_000;
const connectTimeoutSec = 5;

/**
 * From the moment that it is asked for: a connection must be had, and everything done. What lasts longer has lost its server
 * without hearing of it, or is a fault of ours; it must not hold its locks for ever.
 */
const longestTransactionMs = 20_000;

/** The winner of a deadlock has finished by then. A retry without a pause may take the lock first and lose again. */
const lostRaceMs = 50;

/** What every connection is set to. */
export const sessionSettings = {
  // Elsewhere instants of long ago have offsets to the second, which nobody else reads.
  TimeZone: 'UTC',
  // Statements are small and many. Those that are kept from scanning tables look dear to the planner, and where PostgreSQL
  // compiles dear ones, each would take as long as a thousand of them.
  jit: 'off',
  statement_timeout: statementTimeoutMs,
  idle_in_transaction_session_timeout: statementTimeoutMs,
} satisfies SessionSettings;

/** As the driver has it, but for `instantFrom`. */
const instants = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: Date | string) => (value instanceof Date ? value : new Date(value)).toISOString(),
  parse: instantFrom,
};

/**
 * What PostgreSQL writes, `2027-01-31 09:00:00+00`, is no ISO 8601 to JavaScript, which takes the years before 100 for others
 * (1 for 2001), or for nothing. It is in UTC, as we ask for.
 */
function instantFrom(text: string): Date {
  if (!text.startsWith('00')) return new Date(text);
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}

/** A pool for an address. Most callers want `openDatabase`, whose pools know when the database has fallen silent. */
export function connect(address: DatabaseAddress, options: PoolOptions): PoolSql {
  return open(address, options).sql;
}

function open(address: DatabaseAddress, options: PoolOptions): { sql: PoolSql; watched: WatchedPool } {
  const { connection = {}, statementDeadlineMs, ...rest } = options;
  const settings: SessionSettings = { ...sessionSettings, ...connection };
  const shared: ClientOptions = {
    connect_timeout: connectTimeoutSec,
    onnotice: () => undefined,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    ...rest,
    types: { instants },
    connection: { application_name: `usher ${process.pid}` },
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

/** `null`: its statements may take as long as they need. */
function deadlineOf({ statement_timeout: timeoutMs }: SessionSettings): number | null {
  return Number(timeoutMs) === 0 ? null : Number(timeoutMs) + cancelMs;
}

/** Names and values are ours, and hold no quotes. */
function settingStatement(settings: SessionSettings): string {
  const each = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `SELECT ${each.join(', ')}`;
}

/** A socket is named as libpq has it, `postgres://user@localhost/database?host=/directory`: postgres.js does not know that. */
function connectUrl(text: string, options: ClientOptions): PoolSql {
  const url = new URL(text);
  const directory = url.searchParams.get('host');
  if (directory === null) return postgres(text, options);
  url.searchParams.delete('host');
  return postgres(url.href, { ...options, host: directory });
}

export function openDatabase(address: DatabaseAddress, poolSize: number): Database {
  const watchedPools = new Set<WatchedPool>();
  const own = open(address, pools.pulse);
  const pulse = new Pulse(own.sql, own.watched, watchedPools);
  const openPool = (options: PoolOptions): PoolSql => {
    const { sql, watched } = open(address, options);
    watched.refuseWhile(() => pulse.isSilent);
    watchedPools.add(watched);
    return sql;
  };
  const sql = openPool({ max: poolSize });
  return {
    address,
    sql,
    pulse,
    connect: openPool,
    async close(graceMs = 5_000) {
      await Promise.all([sql.end({ timeout: graceMs / 1000 }), pulse.stop()]);
    },
  };
}

interface TransactionOptions {
  readonly longestMs?: number;
  /** What becomes of a transaction that PostgreSQL has rolled back in favour of another, with nothing changed. */
  readonly afterLostRace?: 'try once more' | 'reject';
}

/**
 * Runs `run` in one transaction: the caller's, if it is in one already. BEGIN and COMMIT are a round trip each; statements
 * that do not await one another share one, once the connection has prepared them.
 *
 * It rejects if the connection is lost at any moment, the COMMIT included, whose outcome is then unknown, and if all of it has
 * taken `longestMs`, waiting for a connection included. Once it has settled, `run` can change nothing any more, and has
 * settled too unless it took that long.
 *
 * A transaction that lost a deadlock is run once more. So `run` changes nothing that a rollback does not undo, or says
 * `afterLostRace: 'reject'`.
 */
export async function inTransaction<T>(
  sql: Sql,
  run: (sql: Sql) => Promise<T>,
  { longestMs = longestTransactionMs, afterLostRace = 'try once more' }: TransactionOptions = {},
): Promise<T> {
  if (!isPool(sql)) return run(sql);
  const deadline = performance.now() + longestMs;
  try {
    return await runOnce(sql, run, longestMs);
  } catch (error) {
    if (afterLostRace === 'reject' || !isLostRace(error)) throw error;
  }
  await sleep(lostRaceMs);
  return runOnce(sql, run, deadline - performance.now());
}

async function runOnce<T>(sql: PoolSql, run: (sql: Sql) => Promise<T>, longestMs: number): Promise<T> {
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
    const transaction = sql.begin(async (own) => {
      // It waited for its connection for too long, and nobody waits for it any more.
      if (isOver) throw lostConnection('the transaction has begun too late');
      abandon = () => (own as typeof own & Abandonable).abandon();
      running = run(fenced(own, () => isOver)).finally(() => {
        isOver = true;
      });
      return running;
    });
    // postgres.js types the result for arrays of pending queries, which `run` never returns.
    return (await Promise.race([transaction, late.promise])) as T;
  } finally {
    // A lost connection rejects at once, with `run` still at work; its statements are all rejected, so it ends soon. Were it
    // left alone, it could go on with whatever its caller does next (`request.sql` is the pool again by then).
    isOver = true;
    await Promise.race([Promise.allSettled([running]), late.promise.catch(() => undefined)]);
    clearTimeout(deadline);
  }
}

function lostConnection(message: string): Error {
  return Object.assign(new Error(message), { code: 'CONNECTION_CLOSED' });
}

/**
 * A statement that comes after `run` has settled, from a branch of it that nobody awaited, must not run outside of the
 * transaction. That none reaches another connection after a loss is the driver's part (`postgres.ts`).
 */
function fenced(sql: Sql, isOver: () => boolean): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      if (isOver()) throw lostConnection('the transaction is over');
      return Reflect.apply(target as unknown as (...given: unknown[]) => unknown, self, args);
    },
  });
}

function isPool(sql: Sql): sql is PoolSql {
  return 'begin' in sql;
}

/** The SQLSTATE of an error PostgreSQL answered with, or the code of a failed connection; `null` for anything else. */
export function databaseErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code;
}

/** The violated constraint, where the error is about one. */
export function violatedConstraint(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? (error.constraint_name ?? null) : null;
}

const lostRace = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected: nothing was changed, and the other has gone on
]);

/** Whether PostgreSQL rolled the transaction back in favour of another. */
function isLostRace(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && lostRace.has(code);
}

const outOfRoom = new Set([
  '53100', // disk_full
]);

/** Whether the database has no room to write. */
export function isDiskFull(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && outOfRoom.has(code);
}

/** Whether the database takes no writes: it is a standby, or was told so when its disk was nearly full. */
export function isReadOnly(error: unknown): boolean {
  const code = databaseErrorCode(error);
  // A standby refuses to read unlogged tables too, with the code of whatever is not supported.
  return code === '25006' || (code === '0A000' && error instanceof Error && error.message.includes('recovery'));
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
  '57014', // query_canceled, by our own statement_timeout
  ...lostRace,
  ...outOfRoom,
]);

/** Whether the database was out of reach or took no writes, so that the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return (code !== null && unavailable.has(code)) || isReadOnly(error);
}
