import type { Config } from '../../config.ts';

/** Settings of a connection, by PostgreSQL's names. */
export type SessionSettings = Readonly<Record<string, string | number>>;

export interface PoolOptions {
  /** The number of connections. */
  readonly max: number;
  /** Seconds until an unused connection is closed; 0 for never, which is the default. */
  readonly idle_timeout?: number;
  /** Seconds until a connection is replaced; with `null` it stays open as long as the process runs. By default 30 to 60 minutes. */
  readonly max_lifetime?: number | null;
  /** Seconds in which a connection must open. */
  readonly connect_timeout?: number;
  /** Whether statements are prepared; `true` by default. */
  readonly prepare?: boolean;
  /** The pause after this many failures to open a connection. */
  readonly backoffMs?: (failures: number) => number;
  /** Settings of each connection in addition to `sessionSettings`. */
  readonly connection?: SessionSettings;
  /** The name of the pool in the metrics; a pool without a name is not reported. */
  readonly name?: string;
  /** When a connection without a response is destroyed; by default shortly after its `statement_timeout`. */
  readonly statementDeadlineMs?: number;
  /** Is called for each notification of the channels that the connection listens to. */
  readonly onNotification?: (channel: string, payload: string) => void;
  readonly onConnectionClosed?: () => void;
  /** Is called with the text of each statement, for tests. */
  readonly onStatement?: (text: string) => void;
}

/**
 * For a connection that stays open as long as its pool. The pool replaces any other connection sooner or later, and what belongs to its
 * session is lost: LISTEN, advisory locks, settings made by a statement.
 */
const lasting = { max: 1, idle_timeout: 0, max_lifetime: null };

/**
 * For statements that find all rows by keys: with outdated statistics of a growing table the planner would scan the table, and
 * cache that plan.
 */
const byKeys = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * The pools besides the one for requests, with their sizes and settings. Together they are the 23 connections that
 * `USHER_DATABASE_POOL` reserves for background work.
 */
export const pools = {
  /** Checks whether the database responds. The connection must not time out before the pulse does. */
  pulse: { name: 'pulse', max: 1, idle_timeout: 0, connect_timeout: 10 },
  /** Listens for row changes. */
  changes: lasting,
  /** Shows other processes that this one is alive. */
  session: lasting,
  /**
   * For lookups that a request needs during a transaction, over connections that no transaction holds. They are few and short:
   * a lookup reads one indexed row. While the database is unavailable, a lookup fails at once instead of after a pause.
   */
  lookups: { name: 'lookups', max: 3, idle_timeout: 60, connect_timeout: 2, backoffMs: () => 0 },
  turns: { name: 'turns', max: 4, connection: byKeys },
  /**
   * For batches of messages and other writes to engagements. A batch waits for no lock, so a slow one is ended early: what is then
   * written alone must be answered within the deadline of its request. A connection may be silent for as long as others.
   */
  batches: {
    name: 'batches',
    max: 2,
    connection: { ...byKeys, statement_timeout: 5_000 },
    statementDeadlineMs: 17_000,
  },
  /** One connection for the loop of the dispatcher, the others for leases and webhooks. */
  dispatcher: { name: 'dispatcher', max: 3, connection: byKeys },
  /** An index on the account finds its new events, so planning each query again gains nothing. */
  feed: { name: 'feed', max: 3, connection: { plan_cache_mode: 'force_generic_plan' } },
  /**
   * Filters make every statement different, so none is prepared. There are few connections: long statistics wait only for each
   * other, and each has enough memory to join a year without temporary files.
   */
  statistics: { name: 'statistics', max: 2, idle_timeout: 60, prepare: false, connection: { work_mem: '64MB' } },
  /** For preparing, sending and receiving SMS. No task holds one connection while it waits for another. */
  sms: { name: 'sms', max: 2, idle_timeout: 60 },
  /** Switches an embedded database to read-only and back. A checkpoint on a slow disk may take long. */
  writeSwitch: { max: 1, idle_timeout: 30, connection: { statement_timeout: 60_000 } },
} satisfies Record<string, PoolOptions>;

const backgroundConnections = Object.values(pools).reduce((sum, { max }) => sum + max, 0);

/** The connections that remain for requests. */
export function requestConnections({ databaseConnections }: Pick<Config, 'databaseConnections'>): number {
  return databaseConnections - backgroundConnections;
}

/**
 * Connections that a process needs only while it starts. They replace those of the statistics, which no request uses yet, so the
 * process stays within its limit.
 */
export const startPools = {
  /** A migration, or the wait for that of another process, has no time limit. The connection holds the migration lock. */
  migrations: { ...lasting, connection: { statement_timeout: 0 } },
  /** Two of these detect whether a pooler shares sessions. A pooler without free connections does not respond, so there is a deadline. */
  sessionCheck: { ...lasting, statementDeadlineMs: 5_000 },
} satisfies Record<string, PoolOptions>;

/** Connections of commands, which end with their command. */
export const commandPools = {
  /**
   * For one long transaction that reads or writes a whole database. Time limits of the server must not end it. Values have the same
   * text in every version of PostgreSQL with these settings.
   */
  backup: {
    ...lasting,
    connection: {
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
      lock_timeout: 0,
      DateStyle: 'ISO, YMD',
      IntervalStyle: 'postgres',
      bytea_output: 'hex',
      extra_float_digits: 1,
    },
  },
} satisfies Record<string, PoolOptions>;
