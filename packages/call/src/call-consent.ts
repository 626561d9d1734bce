import type { Kind } from './media.ts';

/**
 * How long a click may start devices, and how long it may join the call. After Accept, the feed reports the call a moment later. A
 * requested call waits for the other side: it is joined whenever the other side accepts, but after two minutes without devices,
 * because the person may no longer be looking.
 */
const limits = {
  accepted: { devicesMs: 10_000, joinMs: 10_000 },
  requested: { devicesMs: 120_000, joinMs: Infinity },
} as const;

export type Consent = keyof typeof limits;

/**
 * The click with which somebody agrees to a call: they accept it, or they request it. The click is valid for joining once, and for
 * one start of each device that the call needs. The end of the call, and a declined or canceled request, clear it.
 */
export class CallConsent {
  #at = -Infinity;
  #limits: (typeof limits)[Consent] = limits.accepted;
  #mayJoin = false;
  #kinds: ReadonlySet<Kind> = new Set();

  /** `kinds`: what the person who clicked sends in the call. */
  record(how: Consent, kinds: readonly Kind[]): void {
    this.#at = performance.now();
    this.#limits = limits[how];
    this.#mayJoin = true;
    this.#kinds = new Set(kinds);
  }

  clear(): void {
    this.#mayJoin = false;
    this.#kinds = new Set();
  }

  /** Whether the click allows joining a call. True at most once per click. */
  consumeJoin(): boolean {
    const mayJoin = this.#mayJoin && this.#ageMs < this.#limits.joinMs;
    this.#mayJoin = false;
    return mayJoin;
  }

  /** Those of the given kinds whose device the click allows to start. Each kind at most once per click. */
  consumeDevices(kinds: readonly Kind[]): readonly Kind[] {
    if (this.#ageMs >= this.#limits.devicesMs) return [];
    const allowed = kinds.filter((kind) => this.#kinds.has(kind));
    this.#kinds = new Set([...this.#kinds].filter((kind) => !allowed.includes(kind)));
    return allowed;
  }

  get #ageMs(): number {
    return performance.now() - this.#at;
  }
}
