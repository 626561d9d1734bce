import { BoundedMap } from '../platform/bounded-map.ts';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, VisitorId } from '../platform/ids.ts';
import type { NameResolver } from '../platform/names/name-resolver.ts';
import { addressKey } from '../platform/rate-limit.ts';

/** Names that did not resolve: of one visitor as many as one ticket may bring along, of one address twice that. */
const mostOfVisitor = 10;
const mostOfAddress = 20;
/** A name counts for so long after it was last brought along, unless it resolves. */
const heldMs = 10 * 60_000;
/** So many visitors and addresses are counted; beyond that the oldest count is forgotten. */
const mostCounted = 20_000;

/**
 * Which names that do not resolve (or not yet) visitors have brought along as webhooks, in this process. Each costs a lookup
 * that takes seconds, and attempts for three days: anybody who opens a page could make us do that by the thousand.
 *
 * A name is asked for when it is brought along, in the background, so that one that resolves counts for milliseconds.
 */
export class UnresolvedNames {
  readonly #names: NameResolver;
  /** By visitor or address: until when each name counts. */
  readonly #held = new BoundedMap<string, Map<string, number>>(mostCounted);

  constructor(names: NameResolver) {
    this.#names = names;
  }

  /** Counts these names for the visitor and its address; throws 429, and counts none, where that is too many. */
  hold(
    visitor: { readonly accountId: AccountId; readonly visitorId: VisitorId },
    address: string,
    hosts: string[],
  ): void {
    const names = [...new Set(hosts)].filter((name) => !this.#names.isTrusted(name));
    if (names.length === 0) return;
    const now = performance.now();
    const counts = [
      { held: this.#heldBy(visitor.visitorId, now), most: mostOfVisitor },
      { held: this.#heldBy(addressKey(address), now), most: mostOfAddress },
    ];
    for (const { held, most } of counts) {
      const others = held.keys().filter((name) => !names.includes(name));
      if (others.toArray().length + names.length > most) throw tooMany(most, held, now);
    }
    for (const { held } of counts) for (const name of names) held.set(name, now + heldMs);
    for (const name of names) this.#names.prepare(name, visitor.accountId);
  }

  #heldBy(key: string, now: number): Map<string, number> {
    const held = this.#held.get(key) ?? new Map<string, number>();
    for (const [name, until] of held) if (until <= now || this.#names.isTrusted(name)) held.delete(name);
    this.#held.delete(key);
    this.#held.set(key, held);
    return held;
  }
}

function tooMany(most: number, held: ReadonlyMap<string, number>, now: number): Refusal {
  const soonest = Math.min(...held.values());
  const seconds = Number.isFinite(soonest) ? Math.max(1, Math.ceil((soonest - now) / 1_000)) : heldMs / 1_000;
  return new Refusal(
    'too_many_unresolved_names',
    `At most ${most} host names that do not resolve are accepted in webhooks from here. Leave out the webhooks whose names do not resolve, or try again in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
