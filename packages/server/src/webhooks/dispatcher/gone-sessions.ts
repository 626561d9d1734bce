import { takeOverAfterMs } from '../../platform/database-session.ts';

/**
 * How long sessions have been gone. The owner of a session that is gone may still be sending for a moment, if its connection
 * broke without a word: so the first sight of it is not enough.
 */
export class GoneSessions {
  /** When each was first seen gone, by the monotonic clock. */
  readonly #since = new Map<number, number>();

  /** `gone`: all that are gone now. */
  note(gone: readonly number[], now: number): void {
    const still = new Set(gone);
    for (const session of this.#since.keys()) if (!still.has(session)) this.#since.delete(session);
    for (const session of gone) if (!this.#since.has(session)) this.#since.set(session, now);
  }

  /** Those that have been gone for long enough. */
  at(now: number): readonly number[] {
    return [...this.#since].flatMap(([session, since]) => (now - since >= takeOverAfterMs ? [session] : []));
  }
}
