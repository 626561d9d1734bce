import type { Pool } from './pool.ts';

/** How often a pool is checked. */
const tickMs = 500;

/** A statement that waits longer than this for a connection is rejected. */
const longestQueueMs = 10_000;

/**
 * Gives every statement of a pool a deadline: a connection that has waited for the same statement for `statementDeadlineMs` is
 * destroyed, and its statements are rejected. PostgreSQL's own `statement_timeout` does not help when responses no longer
 * arrive. With `null`, statements have no deadline.
 *
 * The watch counts its own ticks instead of reading a clock: after a process was suspended for a minute, the responses may
 * already be in its sockets.
 *
 * Returns a function that ends the watch.
 */
export function watchPool(pool: Pool, statementDeadlineMs: number | null): () => void {
  let seen = new Map<object, { readonly statement: object; readonly ticks: number }>();
  /** The instants of the last ticks. */
  const ticked: number[] = [];

  const destroySilent = (deadlineMs: number): void => {
    const next: typeof seen = new Map();
    for (const channel of pool.channels) {
      const { key, unanswered: statement } = channel;
      if (statement === null) continue;
      const before = seen.get(key);
      const ticks = before?.statement === statement ? before.ticks + 1 : 0;
      if (ticks * tickMs >= deadlineMs) channel.destroy();
      else next.set(key, { statement, ticks });
    }
    seen = next;
  };
  const check = (): void => {
    ticked.push(performance.now());
    const longAgo = ticked.length > longestQueueMs / tickMs ? ticked.shift() : undefined;
    if (longAgo !== undefined) pool.rejectQueued(longAgo);
    if (statementDeadlineMs !== null) destroySilent(statementDeadlineMs);
    pool.retire();
  };
  const timer = setInterval(check, tickMs).unref();
  return () => clearInterval(timer);
}
