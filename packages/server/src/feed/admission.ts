import type { ServerResponse } from 'node:http';
import { isFromPage, type Caller } from '../identity/caller.ts';
import type { ConnectionLimits } from '../platform/connection-limits.ts';
import { Refusal } from '../platform/errors.ts';
import { addressKey } from '../platform/rate-limit.ts';

/** Feeds that one visitor may have open: a browser has one for each tab. An operator's programs have more. */
const mostOfVisitor = 10;
const mostOfOperator = 100;
/**
 * A visitor's oldest feed is closed for a new one, as it may belong to a connection that was lost without a word. One that is
 * younger is in use: with more tabs than feeds, each would otherwise take its feed from the next, over and over.
 */
const settledMs = 30_000;
const retryAfterSec = 15;

export interface Applicant {
  readonly caller: Caller;
  readonly address: string;
  readonly response: ServerResponse;
}

interface Admitted {
  readonly response: ServerResponse;
  readonly at: number;
}

interface AdmissionOptions {
  readonly limits: Pick<ConnectionLimits, 'feeds' | 'visitorFeeds'>;
  /** `open_feeds_per_address` of the visitor's site. */
  readonly mostOfAddress: (caller: Caller & { kind: 'visitor' }) => Promise<number>;
  readonly close: (response: ServerResponse) => void;
}

/**
 * Who may open a feed in this process. Operators always find room: visitors have a share of all feeds and no more. Of the
 * visitors' share an address has a part, unless the customer's own servers vouch for the visitors.
 */
export class FeedAdmission {
  readonly #options: AdmissionOptions;
  /** Feeds that are open or about to be, oldest first. */
  readonly #ofCaller = new Map<string, readonly Admitted[]>();
  readonly #ofAddress = new Map<string, number>();
  #all = 0;
  #ofVisitors = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** To be asked before the answer has begun. A feed counts from here on: many may be about to open at once. */
  async admit({ caller, address, response }: Applicant): Promise<void> {
    const key = isFromPage(caller) ? addressKey(address) : null;
    const most = caller.kind === 'visitor' && key !== null ? await this.#options.mostOfAddress(caller) : Infinity;
    // Nothing is awaited from here on, so that no other is admitted between looking and counting.
    this.#refuseFull(caller);
    if (key !== null && (this.#ofAddress.get(key) ?? 0) >= most)
      throw new Refusal(
        'address_limit',
        `Visitors of this address have ${most} feeds open here, as many as they may. Close some. The limit is visitor_limits.open_feeds_per_address of the site.`,
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
    throw new Refusal('too_busy', 'This process has as many feeds open as it can. Try again in a few seconds.', {
      headers: { 'retry-after': '5' },
    });
  }

  #makeRoomFor(caller: Caller): void {
    const open = this.#ofCaller.get(caller.key) ?? [];
    const most = caller.kind === 'visitor' ? mostOfVisitor : mostOfOperator;
    const [oldest] = open;
    if (oldest === undefined || open.length < most) return;
    if (caller.kind === 'visitor' && performance.now() - oldest.at >= settledMs) {
      this.#options.close(oldest.response);
      return;
    }
    throw new Refusal('rate_limited', `The caller has ${most} feeds open. Close some.`, {
      headers: { 'retry-after': String(retryAfterSec) },
    });
  }

  #count(caller: Caller, addressed: string | null, response: ServerResponse): void {
    const admitted = { response, at: performance.now() };
    this.#ofCaller.set(caller.key, [...(this.#ofCaller.get(caller.key) ?? []), admitted]);
    this.#add(caller, addressed, 1);
    response.once('close', () => {
      const left = (this.#ofCaller.get(caller.key) ?? []).filter((each) => each !== admitted);
      if (left.length > 0) this.#ofCaller.set(caller.key, left);
      else this.#ofCaller.delete(caller.key);
      this.#add(caller, addressed, -1);
    });
  }

  #add(caller: Caller, addressed: string | null, by: 1 | -1): void {
    this.#all += by;
    if (caller.kind === 'visitor') this.#ofVisitors += by;
    if (addressed === null) return;
    const count = (this.#ofAddress.get(addressed) ?? 0) + by;
    if (count > 0) this.#ofAddress.set(addressed, count);
    else this.#ofAddress.delete(addressed);
  }
}
