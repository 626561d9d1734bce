import type { Sql as PoolSql } from 'postgres';
import type { PoolLoad, Watchable } from './postgres.ts';

/** How often a pool is checked. */
const tickMs = 500;

/** A statement that waits longer than this for a connection is rejected. */
const longestQueueMs = 10_000;

/** How `Pulse` controls a pool when the database stops responding. */
export interface WatchedPool {
  /** Destroys every connection and rejects every queued statement. */
  abandon(): void;
  /** Rejects statements at once while `refuses` returns true. */
  refuseWhile(refuses: () => boolean): void;
  load(): PoolLoad;
  stop(): void;
}

/**
 * Gives every statement of a pool a deadline: a connection that has waited for the same statement for `statementDeadlineMs` is
 * destroyed, and its statements are rejected. PostgreSQL's own `statement_timeout` does not help when responses no longer
 * arrive. With `null`, statements have no deadline.
 *
 * The watch counts its own ticks instead of reading a clock: after a process was suspended for a minute, the responses may
 * already be in its sockets.
 */
export function watchPool(sql: PoolSql, statementDeadlineMs: number | null): WatchedPool {
  const { connections, rejectQueued, poolLoad, options } = sql as PoolSql & Watchable;
  const seen = new Map<(typeof connections)[number], { statement: object; ticks: number }>();
  /** The instants of the last ticks. */
  const ticked: number[] = [];

  const check = (): void => {
    ticked.push(performance.now());
    const longAgo = ticked.length > longestQueueMs / tickMs ? ticked.shift() : undefined;
    if (longAgo !== undefined) rejectQueued(longAgo);
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
  const timer = setInterval(check, tickMs).unref();

  return {
    abandon() {
      for (const connection of connections) connection.destroy();
      rejectQueued(Infinity);
    },
    refuseWhile(refuses) {
      Object.assign(options, { refuses });
    },
    load: poolLoad,
    stop() {
      clearInterval(timer);
    },
  };
}
