import type { Options } from 'postgres';
import type { Config } from '../config.ts';

export type ClientOptions = Options<Record<never, never>>;

/** Settings of a connection, by PostgreSQL's names. */
export type SessionSettings = Readonly<Record<string, string | number>>;

export interface PoolOptions extends Omit<ClientOptions, 'connection'> {
  /** Settings of each connection, beside those that all of ours have. */
  readonly connection?: SessionSettings;
  /** When a connection without an answer is destroyed; left out, a little after its `statement_timeout`. */
  readonly statementDeadlineMs?: number;
}

/** For a connection that is open as long as the process runs and has nothing to do with types of columns. */
const lasting = { max: 1, idle_timeout: 0, max_lifetime: null, fetch_types: false };

/**
 * For statements that find everything by keys: with statistics that lag behind a growing table the planner would rather scan
 * the table, and keep to that plan.
 */
const byKeys = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * The pools beside the one for requests: how many connections each has, and how they are set. Together these are the 23 that
 * `USHER_DATABASE_POOL` reserves for background work.
 */
export const pools = {
  /** Asks whether the database answers. The connection must not give up before the pulse does. */
  pulse: { max: 1, idle_timeout: 0, connect_timeout: 10, fetch_types: false },
  /** Listens for changes of rows. */
  changes: lasting,
  /** Shows others that the process lives. */
  session: lasting,
  /**
   * Answers what a request needs to know in the middle of a transaction, over connections that no transaction holds. Few and
   * short: a lookup is one indexed row. While the database is away, each is told so at once and not after a pause.
   */
  lookups: { max: 4, idle_timeout: 60, connect_timeout: 2, backoff: () => 0 },
  turns: { max: 4, connection: byKeys },
  /** One for the loop of the dispatcher, others for leases and webhooks. */
  dispatcher: { max: 3, connection: byKeys },
  /** Which of an account's events are new is asked of an index by its account; nothing is gained by planning that anew. */
  feed: { max: 3, connection: { plan_cache_mode: 'force_generic_plan' } },
  /**
   * Filters make every statement another, so none is prepared. Few connections: long statistics wait only for each other, and
   * each may have the memory to join a year without files.
   */
  statistics: { max: 2, idle_timeout: 60, prepare: false, connection: { work_mem: '64MB' } },
  /** For preparing, sending and taking SMS. None is held while another is waited for. */
  sms: { max: 3, idle_timeout: 60 },
  /** Tells an embedded database whether to take writes. A checkpoint of a slow disk takes its time. */
  writeSwitch: { max: 1, idle_timeout: 30, fetch_types: false, connection: { statement_timeout: 60_000 } },
} satisfies Record<string, PoolOptions>;

const backgroundConnections = Object.values(pools).reduce((sum, { max }) => sum + max, 0);

/** What the pools above leave for requests of all connections that the process may open. */
export function requestConnections({ databaseConnections }: Pick<Config, 'databaseConnections'>): number {
  return databaseConnections - backgroundConnections;
}

/**
 * Connections that a process needs only while it starts. They come on top of the others, but nobody can ask for statistics
 * by then: the process has no more connections than it may open.
 */
export const startPools = {
  /** A migration of a large table, or of another process, may take any time. One that the database has forgotten ends all the same. */
  migrations: { max: 1, connection: { statement_timeout: 0 } },
  /** Two of these find out whether a pooler shares sessions. One without a connection left leaves a statement without an answer. */
  sessionCheck: { max: 1, fetch_types: false, statementDeadlineMs: 5_000 },
} satisfies Record<string, PoolOptions>;
