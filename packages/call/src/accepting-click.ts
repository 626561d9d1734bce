import type { Kind } from './media.ts';

/** So long after the click, the feed may still bring what it is about. */
const countsMs = 10_000;

/**
 * The click by which somebody accepts a call. That the conversation has become one is told a moment later, so the click is
 * remembered: for a moment, for one joining, for one start of each device that the accepted call needs, and not beyond the end of
 * the call.
 */
export class AcceptingClick {
  #at = -Infinity;
  #mayJoin = false;
  #kinds: ReadonlySet<Kind> = new Set();

  /** `kinds`: what its owner sends in the call that is accepted. */
  note(kinds: readonly Kind[]): void {
    this.#at = performance.now();
    this.#mayJoin = true;
    this.#kinds = new Set(kinds);
  }

  forget(): void {
    this.#at = -Infinity;
  }

  /** Whether a call may be joined because of the click; true once. */
  takeJoining(): boolean {
    const mayJoin = this.#counts && this.#mayJoin;
    this.#mayJoin = false;
    return mayJoin;
  }

  /** Of these devices, those that may be started because of the click; each once. */
  take(kinds: readonly Kind[]): readonly Kind[] {
    if (!this.#counts) return [];
    const taken = kinds.filter((kind) => this.#kinds.has(kind));
    this.#kinds = new Set([...this.#kinds].filter((kind) => !taken.includes(kind)));
    return taken;
  }

  get #counts(): boolean {
    return performance.now() - this.#at < countsMs;
  }
}
