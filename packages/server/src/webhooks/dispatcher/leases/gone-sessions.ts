import { takeOverAfterMs } from '../../../platform/database/database-session.ts';

/**
 * Tracks how long sessions have been gone. If the connection of an owner broke silently, the owner may still be sending for a
 * moment; so its leases are not taken over at first sight.
 */
export class GoneSessions {
  /** When each session was first found gone, by the monotonic clock. */
  readonly #since = new Map<number, number>();

  /** `gone`: all sessions that are gone now. */
  note(gone: readonly number[], now: number): void {
    const still = new Set(gone);
    for (const session of this.#since.keys()) if (!still.has(session)) this.#since.delete(session);
    for (const session of gone) if (!this.#since.has(session)) this.#since.set(session, now);
  }

  /** The sessions that have been gone for long enough to take over their leases. */
  at(now: number): readonly number[] {
    return [...this.#since].flatMap(([session, since]) => (now - since >= takeOverAfterMs ? [session] : []));
  }
}
