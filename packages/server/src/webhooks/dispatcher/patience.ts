import type { Sql } from '../../platform/database.ts';
import type { Attempt } from '../channels/attempt.ts';
import type { Destination } from './destination.ts';

/**
 * D8.5: how long an answer is waited for. A destination that took a request and did not answer is waited for less, until it answers
 * one: others of the same engagement wait behind each request. Connecting has a limit of its own, in the channel.
 */
const answerMs = { usually: 15_000, unresponsive: 5_000 } as const;

/** How long to wait for this destination's answer. */
export function patienceWith({ isUnresponsive }: Destination): number {
  return isUnresponsive ? answerMs.unresponsive : answerMs.usually;
}

/**
 * Remembers which destinations took a request and did not answer. After the first request that is not answered in time, further
 * ones wait for `answerMs.unresponsive`, until one is answered. It is written when it changes, so that whoever leases the
 * destination next knows it too: between two attempts a destination is often given back.
 */
export class Patience {
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #changed = new Set<Destination>();

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  note(destination: Destination, { timedOut = false, status }: Attempt): void {
    // An attempt that met nobody, or was not made, says nothing about how long an answer takes.
    if (!timedOut && status === null) return;
    if (destination.isUnresponsive === timedOut) return;
    destination.isUnresponsive = timedOut;
    this.#changed.add(destination);
  }

  /** Most of the time there is nothing to write. Locked in the order in which outcomes and renewals lock them. */
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
    // One that has changed again meanwhile is written again.
    for (const [index, destination] of changed.entries())
      if (destination.isUnresponsive === rows[index]?.is_unresponsive) this.#changed.delete(destination);
  }
}
