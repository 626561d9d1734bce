import type { ISql, Options, PendingQuery, Row, Sql as PoolSql } from 'postgres';
import postgres, { type Abandonable } from './postgres.ts';

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
  readonly sql: PoolSql;
  /** Waits for running statements, `graceMs` at most, and lets go of every connection. */
  close(graceMs?: number): Promise<void>;
}

/** No statement of ours runs longer; a lock that is waited for longer than this is a fault to report, not to sit out. */
const statementTimeoutMs = 15_000;
const connectTimeoutSec = 5;

/** What lasts longer has lost its server without hearing of it, or is a fault of ours; it must not hold its locks for ever. */
const longestTransactionMs = 20_000;

type ClientOptions = Options<Record<never, never>>;

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

/** A postgres.js client for an address. Most callers want `openDatabase`; the change feed needs a connection of its own. */
export function connect(address: DatabaseAddress, options: ClientOptions): PoolSql {
  const { connection, ...rest } = options;
  const shared: ClientOptions = {
    connect_timeout: connectTimeoutSec,
    onnotice: () => undefined,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    ...rest,
    types: { instants },
    connection: {
      // Elsewhere instants of long ago have offsets to the second, which nobody else reads.
      TimeZone: 'UTC',
      // Statements are small and many. Those that are kept from scanning tables look dear to the planner, and where PostgreSQL
      // compiles dear ones, each would take as long as a thousand of them.
      jit: 'off',
      application_name: `usher ${process.pid}`,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      ...connection,
    },
  };
  if (address.kind === 'url') return connectUrl(address.url, shared);
  return postgres({ ...shared, host: address.directory, user: address.user, database: address.database });
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
  const sql = connect(address, { max: poolSize });
  return {
    address,
    sql,
    close: async (graceMs = 5_000) => sql.end({ timeout: graceMs / 1000 }),
  };
}

/**
 * Runs `run` in one transaction: the caller's, if it is in one already. BEGIN and COMMIT are a round trip each; statements
 * that do not await one another share one, once the connection has prepared them.
 *
 * It rejects if the connection is lost at any moment, the COMMIT included, whose outcome is then unknown: nothing is tried
 * again here. Once it has settled, `run` can change nothing any more, and has settled too unless it took `longestMs`.
 */
export async function inTransaction<T>(
  sql: Sql,
  run: (sql: Sql) => Promise<T>,
  longestMs = longestTransactionMs,
): Promise<T> {
  if (!isPool(sql)) return run(sql);
  const late = Promise.withResolvers<void>();
  let deadline: NodeJS.Timeout | undefined;
  let running: Promise<T> | undefined;
  let isOver = false;
  try {
    const transaction = sql.begin(async (own) => {
      deadline = setTimeout(() => {
        (own as typeof own & Abandonable).abandon();
        late.resolve();
      }, longestMs);
      running = run(fenced(own, () => isOver)).finally(() => {
        isOver = true;
      });
      return running;
    });
    // postgres.js types the result for arrays of pending queries, which `run` never returns.
    return (await transaction) as T;
  } finally {
    // A lost connection rejects at once, with `run` still at work; its statements are all rejected, so it ends soon. Were it
    // left alone, it could go on with whatever its caller does next (`request.sql` is the pool again by then).
    isOver = true;
    await Promise.race([Promise.allSettled([running]), late.promise]);
    clearTimeout(deadline);
  }
}

/**
 * A statement that comes after `run` has settled, from a branch of it that nobody awaited, must not run outside of the
 * transaction. That none reaches another connection after a loss is the driver's part (`postgres.ts`).
 */
function fenced(sql: Sql, isOver: () => boolean): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      if (isOver()) throw Object.assign(new Error('the transaction is over'), { code: 'CONNECTION_CLOSED' });
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

const connectionLost = new Set([
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
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57014', // query_canceled, by our own statement_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected: nothing was changed, and the other has gone on
]);

/** Whether the database was out of reach, so that the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && connectionLost.has(code);
}
