import type { Sql } from '../../../platform/database/database.ts';
import type { Attempt } from '../../../channels/attempt.ts';
import type { Destination } from '../destination.ts';

/**
 * D8.5: the timeout for answers. It is shorter for a destination that accepted its last request without answering, because the
 * other events of the engagement wait behind each request. The channels have a separate timeout for connecting.
 */
const answerMs = { usually: 15_000, unresponsive: 5_000 } as const;

/** The timeout for an answer of this destination. */
export function answerTimeoutMs({ isUnresponsive }: Destination): number {
  return isUnresponsive ? answerMs.unresponsive : answerMs.usually;
}

/**
 * Remembers which destinations are unresponsive: from the first request that is not answered in time until one is answered.
 * Changes are stored for the next process that leases the destination, because the lease is often released between two attempts.
 */
export class AnswerTimeouts {
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #changed = new Set<Destination>();

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  note(destination: Destination, { timedOut = false, status }: Attempt): void {
    // An attempt without a connection or a request says nothing about how long an answer takes.
    if (!timedOut && status === null) return;
    if (destination.isUnresponsive === timedOut) return;
    destination.isUnresponsive = timedOut;
    this.#changed.add(destination);
  }

  /** Stores the changes, if there are any. Rows are locked in the same order as by outcomes and renewals. */
  async write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const sql = this.#sql;
    const changed = [...this.#changed];
    const rows = changed.map(({ id, epoch, isUnresponsive }) => ({ id, epoch, is_unresponsive: isUnresponsive }));
    await sql`
      WITH ours AS (
             SELECT d.id, h.is_unresponsive
               FROM destinations d
               JOIN json_to_recordset(${JSON.stringify(rows)}::text::json) AS h (id uuid, epoch bigint, is_unresponsive boolean)
                 ON d.id = h.id AND d.epoch = h.epoch
              WHERE d.owner = ${this.#owner}
              ORDER BY d.id
                FOR NO KEY UPDATE OF d)
      UPDATE destinations d SET is_unresponsive = ours.is_unresponsive FROM ours WHERE d.id = ours.id`;
    // A destination that has changed again meanwhile is written again.
    for (const [index, destination] of changed.entries())
      if (destination.isUnresponsive === rows[index]?.is_unresponsive) this.#changed.delete(destination);
  }
}
