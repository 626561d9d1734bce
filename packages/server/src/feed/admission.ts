import type { ServerResponse } from 'node:http';
import { isFromPage, type Caller } from '../identity/caller.ts';
import type { ConnectionLimits } from '../platform/limits/connection-limits.ts';
import { Refusal } from '../platform/errors.ts';
import { addressKey } from '../platform/limits/rate-limit.ts';

/** Feeds that one visitor may have open: a browser opens one per tab. An operator's programs may need more. */
const maxPerVisitor = 10;
const maxPerOperator = 100;
/**
 * At the limit, a visitor's oldest feed is closed for a new one, because its connection may have been lost silently. A feed
 * younger than this is not closed: with more tabs than feeds, the tabs would close each other's feeds forever.
 */
const minAgeToCloseMs = 30_000;
const retryAfterSec = 15;

export interface Applicant {
  readonly caller: Caller;
  readonly address: string;
  readonly response: ServerResponse;
}

interface AdmittedFeed {
  readonly response: ServerResponse;
  readonly at: number;
}

interface AdmissionOptions {
  readonly limits: Pick<ConnectionLimits, 'feeds' | 'visitorFeeds'>;
  /** `open_feeds_per_address` of the visitor's site. */
  readonly maxPerAddress: (caller: Caller & { kind: 'visitor' }) => Promise<number>;
  readonly close: (response: ServerResponse) => void;
}

/**
 * Decides who may open a feed in this process. Visitors may use only a share of all feeds, so that operators always find room.
 * One address may use only a part of the visitors' share, unless the visitors' tokens come from the customer's own servers.
 */
export class FeedAdmission {
  readonly #options: AdmissionOptions;
  /** Feeds that are open or about to be, oldest first. */
  readonly #ofCaller = new Map<string, readonly AdmittedFeed[]>();
  readonly #ofAddress = new Map<string, number>();
  #all = 0;
  #ofVisitors = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Call this before the response has begun. The feed counts from now on, because many feeds may open at once. */
  async admit({ caller, address, response }: Applicant): Promise<void> {
    const key = isFromPage(caller) ? addressKey(address) : null;
    const limit = caller.kind === 'visitor' && key !== null ? await this.#options.maxPerAddress(caller) : Infinity;
    // No await from here on, so that no other feed is admitted between the check and the count.
    this.#refuseFull(caller);
    if (key !== null && (this.#ofAddress.get(key) ?? 0) >= limit)
      throw new Refusal(
        'address_limit',
        `The limit of ${limit} open feeds for visitors from this address is reached. Close some. The site sets the limit in visitor_limits.open_feeds_per_address.`,
        { headers: { 'retry-after': String(retryAfterSec) } },
      );
    this.#makeRoomFor(caller);
    if (response.closed) return;
    this.#count(caller, key, response);
  }

  #refuseFull(caller: Caller): void {
    const { feeds, visitorFeeds } = this.#options.limits;
    const isFull = this.#all >= feeds || (caller.kind === 'visitor' && this.#ofVisitors >= visitorFeeds);
    if (!isFull) return;
    throw new Refusal('too_busy', 'This process has reached its limit of open feeds. Try again in a few seconds.', {
      headers: { 'retry-after': '5' },
    });
  }

  #makeRoomFor(caller: Caller): void {
    const open = this.#ofCaller.get(caller.key) ?? [];
    const limit = caller.kind === 'visitor' ? maxPerVisitor : maxPerOperator;
    const [oldest] = open;
    if (oldest === undefined || open.length < limit) return;
    if (caller.kind === 'visitor' && performance.now() - oldest.at >= minAgeToCloseMs) {
      this.#options.close(oldest.response);
      return;
    }
    throw new Refusal('rate_limited', `The limit of ${limit} open feeds is reached. Close some.`, {
      headers: { 'retry-after': String(retryAfterSec) },
    });
  }

  #count(caller: Caller, countedAddress: string | null, response: ServerResponse): void {
    const admitted = { response, at: performance.now() };
    this.#ofCaller.set(caller.key, [...(this.#ofCaller.get(caller.key) ?? []), admitted]);
    this.#add(caller, countedAddress, 1);
    response.once('close', () => {
      const left = (this.#ofCaller.get(caller.key) ?? []).filter((each) => each !== admitted);
      if (left.length > 0) this.#ofCaller.set(caller.key, left);
      else this.#ofCaller.delete(caller.key);
      this.#add(caller, countedAddress, -1);
    });
  }

  #add(caller: Caller, countedAddress: string | null, by: 1 | -1): void {
    this.#all += by;
    if (caller.kind === 'visitor') this.#ofVisitors += by;
    if (countedAddress === null) return;
    const count = (this.#ofAddress.get(countedAddress) ?? 0) + by;
    if (count > 0) this.#ofAddress.set(countedAddress, count);
    else this.#ofAddress.delete(countedAddress);
  }
}
