import { BoundedMap } from '../platform/bounded-map.ts';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, VisitorId } from '../platform/ids.ts';
import type { NameResolver } from '../platform/outbound/names/name-resolver.ts';
import { addressKey } from '../platform/limits/rate-limit.ts';

/** One visitor may attach as many unresolved names as one ticket may have webhooks; one address twice as many. */
const maxPerVisitor = 10;
const maxPerAddress = 20;
/** A name counts for this long after it was last attached, unless it resolves. */
const countedMs = 10 * 60_000;
/** Limit of the visitors and addresses counted; beyond it the oldest count is dropped. */
const maxCounts = 20_000;

/**
 * Limits how many unresolved host names visitors may attach as webhooks, in this process. Each such name costs lookups that
 * take seconds, and attempts for three days; without a limit anybody who opens a page could cause thousands of them.
 *
 * The lookup starts in the background when a name is attached, so a name that resolves counts for milliseconds only.
 */
export class UnresolvedNames {
  readonly #names: NameResolver;
  /** By visitor or address: the time until which each name counts. */
  readonly #counted = new BoundedMap<string, Map<string, number>>(maxCounts);

  constructor(names: NameResolver) {
    this.#names = names;
  }

  /** Counts these names for the visitor and their address. Over a limit, counts none of them and throws 429. */
  count(
    visitor: { readonly accountId: AccountId; readonly visitorId: VisitorId },
    address: string,
    hosts: string[],
  ): void {
    const names = [...new Set(hosts)].filter((name) => !this.#names.isTrusted(name));
    if (names.length === 0) return;
    const now = performance.now();
    const counts = [
      { counted: this.#countedFor(visitor.visitorId, now), limit: maxPerVisitor },
      { counted: this.#countedFor(addressKey(address), now), limit: maxPerAddress },
    ];
    for (const { counted, limit } of counts) {
      const others = counted.keys().filter((name) => !names.includes(name));
      if (others.toArray().length + names.length > limit) throw tooMany(limit, counted, now);
    }
    for (const { counted } of counts) for (const name of names) counted.set(name, now + countedMs);
    for (const name of names) this.#names.prepare(name, visitor.accountId);
  }

  #countedFor(key: string, now: number): Map<string, number> {
    const counted = this.#counted.get(key) ?? new Map<string, number>();
    for (const [name, until] of counted) if (until <= now || this.#names.isTrusted(name)) counted.delete(name);
    this.#counted.delete(key);
    this.#counted.set(key, counted);
    return counted;
  }
}

function tooMany(limit: number, counted: ReadonlyMap<string, number>, now: number): Refusal {
  const soonest = Math.min(...counted.values());
  const seconds = Number.isFinite(soonest) ? Math.max(1, Math.ceil((soonest - now) / 1_000)) : countedMs / 1_000;
  return new Refusal(
    'too_many_unresolved_names',
    `The limit of ${limit} unresolved host names in webhooks is reached. Leave out the webhooks whose host names do not resolve, or try again in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
