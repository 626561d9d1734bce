import type { Kind } from './media.ts';

/** How long after the click the feed may still report the accepted call. */
const validMs = 10_000;

/**
 * The click with which somebody accepts a call. The feed reports a moment later that the conversation has become a call, so the
 * click is remembered until then. The click is valid for ten seconds, for joining once, and for one start of each device that the
 * accepted call needs. The end of the call clears it.
 */
export class AcceptingClick {
  #at = -Infinity;
  #mayJoin = false;
  #kinds: ReadonlySet<Kind> = new Set();

  /** `kinds`: what the person who clicked sends in the accepted call. */
  record(kinds: readonly Kind[]): void {
    this.#at = performance.now();
    this.#mayJoin = true;
    this.#kinds = new Set(kinds);
  }

  clear(): void {
    this.#at = -Infinity;
  }

  /** Whether the click allows joining a call. True at most once per click. */
  consumeJoin(): boolean {
    const mayJoin = this.#isValid && this.#mayJoin;
    this.#mayJoin = false;
    return mayJoin;
  }

  /** Those of the given kinds whose device the click allows to start. Each kind at most once per click. */
  consumeDevices(kinds: readonly Kind[]): readonly Kind[] {
    if (!this.#isValid) return [];
    const allowed = kinds.filter((kind) => this.#kinds.has(kind));
    this.#kinds = new Set([...this.#kinds].filter((kind) => !allowed.includes(kind)));
    return allowed;
  }

  get #isValid(): boolean {
    return performance.now() - this.#at < validMs;
  }
}
