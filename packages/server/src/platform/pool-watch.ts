import type { Sql as PoolSql } from 'postgres';
import type { Watchable } from './postgres.ts';

/** How often a pool is looked at. */
const tickMs = 500;

/** A statement that gets no connection for so long is rejected. */
const longestQueueMs = 10_000;

/** What `Database` does to a pool when the database falls silent. */
export interface WatchedPool {
  /** Destroys every connection, and rejects every statement that waits for one. */
  abandon(): void;
  /** While `refuses` says so, statements are rejected at once. */
  refuseWhile(refuses: () => boolean): void;
  stop(): void;
}

/**
 * Gives every statement of a pool a deadline: a connection whose server has been at the same statement for
 * `statementDeadlineMs` is destroyed, and whoever waits for it is rejected. PostgreSQL's own `statement_timeout` is of no use
 * once its answers do not arrive. `null`: statements may take as long as they need.
 *
 * The watch counts its own ticks instead of reading a clock: a process that was stopped for a minute has not waited a minute for its
 * answers, which may lie in its sockets.
 */
export function watchPool(sql: PoolSql, statementDeadlineMs: number | null): WatchedPool {
  const { connections, rejectQueued, options } = sql as PoolSql & Watchable;
  const seen = new Map<(typeof connections)[number], { statement: object; ticks: number }>();

  const look = (): void => {
    rejectQueued(performance.now() - longestQueueMs);
    if (statementDeadlineMs === null) return;
    for (const connection of connections) {
      const statement = connection.unanswered;
      const before = seen.get(connection);
      if (statement === null) seen.delete(connection);
      else if (before?.statement !== statement) seen.set(connection, { statement, ticks: 0 });
      else {
        before.ticks += 1;
        if (before.ticks * tickMs >= statementDeadlineMs) connection.destroy();
      }
    }
  };
  const timer = setInterval(look, tickMs).unref();

  return {
    abandon() {
      for (const connection of connections) connection.destroy();
      rejectQueued(Infinity);
    },
    refuseWhile(refuses) {
      Object.assign(options, { refuses });
    },
    stop() {
      clearInterval(timer);
    },
  };
}
