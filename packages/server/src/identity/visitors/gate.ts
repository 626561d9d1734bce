import { Refusal } from '../../platform/errors.ts';
import type { SiteId } from '../../platform/ids.ts';
import { addressKey, retryAfter, TokenBuckets } from '../../platform/rate-limit.ts';
import { isFromPage, type Caller } from '../caller.ts';
import type { Directory } from '../directory.ts';

/** Bounds how many visitors one address creates on a site, by the site's `visitor_limits`. Each process counts by itself. */
export class VisitorGate {
  readonly #sites: Directory['sites'];
  readonly #buckets = new TokenBuckets();

  constructor({ sites }: Pick<Directory, 'sites'>) {
    this.#sites = sites;
  }

  /** Counts a visitor that is about to be created; throws 429 when it is one too many. */
  async admit(caller: Caller, siteId: SiteId, address: string): Promise<void> {
    if (!isFromPage(caller)) return;
    const known = await this.#sites.get(siteId);
    if (known === null) return;
    const { new_visitors_per_minute: perMinute } = known.site.visitor_limits;
    const rate = { perMinute, burst: perMinute };
    const waitMs = this.#buckets.take(`${siteId} ${addressKey(address)}`, rate);
    if (waitMs === 0) return;
    throw new Refusal(
      'address_limit',
      `This address created ${perMinute} visitors on the site within a minute, as many as it may. Try again later, or create visitors with a secret application token. The limit is visitor_limits.new_visitors_per_minute of the site.`,
      { headers: retryAfter(waitMs) },
    );
  }
}
