import { Refusal } from '../../platform/errors.ts';
import type { SiteId } from '../../platform/ids.ts';
import { addressKey, retryAfter } from '../../platform/limits/rate-limit.ts';
import type { UsesOfAll } from '../../platform/limits/shared-uses.ts';
import { TokenBuckets } from '../../platform/limits/token-buckets.ts';
import { isFromPage, type Caller } from '../caller.ts';
import type { Directory } from '../directory.ts';

/** Limits how many visitors one address creates on a site (`visitor_limits` of the site), in all processes together. */
export class VisitorGate {
  readonly #sites: Directory['sites'];
  readonly #buckets: TokenBuckets;

  constructor({ sites }: Pick<Directory, 'sites'>, shared: UsesOfAll) {
    this.#sites = sites;
    this.#buckets = new TokenBuckets('new visitors', shared);
  }

  /** Called before a visitor is created. Throws 429 if the limit is reached. */
  async admit(caller: Caller, siteId: SiteId, address: string): Promise<void> {
    if (!isFromPage(caller)) return;
    const cached = await this.#sites.get(siteId);
    if (cached === null) return;
    const { new_visitors_per_minute: perMinute } = cached.site.visitor_limits;
    const rate = { perMinute, burst: perMinute };
    const waitMs = this.#buckets.take(`${siteId} ${addressKey(address)}`, rate);
    if (waitMs === 0) return;
    throw new Refusal(
      'address_limit',
      `This address has created ${perMinute} visitors on the site within a minute, which is the limit (visitor_limits.new_visitors_per_minute of the site). Try again later, or create visitors with a secret application token.`,
      { headers: retryAfter(waitMs) },
    );
  }
}
