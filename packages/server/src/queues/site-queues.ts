import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';
import type { RowChanges } from '../platform/database/row-changes.ts';
import { EvaluatedSite, renderQueues } from './evaluated-site.ts';
import type { QueueOutput } from './queue.ts';
import { readInputs, type QueueInputs } from './queue-inputs.ts';
import { queuesOfSite } from './store.ts';

/** The part of `ClockWatch` that is needed here. */
interface QueueClock {
  databaseNow(): number;
  onStep(stepped: () => void): void;
}

/** The notifications of what the status of queues depends on. Each carries the id of the account. */
const topics = ['queue_settings', 'teams_of_operators', 'queues_of_account', 'queue_counts'] as const;

/** The limit of the cache. A queue takes a few kilobytes. */
const maxQueues = 100_000;
/** If an account's version is evicted, its sites are read again, as after a change. */
const maxAccounts = 100_000;

/**
 * The queues of sites with their status, cached. An account has a version: an object that a change of anything that determines the
 * status of its queues replaces. The queues of a site are read at once, and are current as long as
 *
 *   - the version is the one in which the read began: a change during the read has replaced it;
 *   - no presence lease that was read has ended: a renewed lease is not notified.
 *
 * They are evaluated and rendered once, and again when the hours of a queue begin or end. While notifications are not received, nothing
 * is current, and every call reads.
 *
 * A site is read once at a time, whoever asks: reading a large site takes tens of milliseconds, in which hundreds may ask.
 */
export class SiteQueues {
  readonly #sql: Sql;
  readonly #changes: RowChanges;
  readonly #clock: QueueClock;
  readonly #versions = new BoundedMap<string, object>(maxAccounts);
  /** Those that were read last, in the order of reading. */
  readonly #sites = new Map<SiteId, CachedSite>();
  /** The sum of their weights. */
  #weight = 0;
  readonly #reads = new Map<SiteId, Promise<CachedSite>>();

  constructor(sql: Sql, changes: RowChanges, clock: QueueClock) {
    this.#sql = sql;
    this.#changes = changes;
    this.#clock = clock;
    for (const topic of topics) changes.on(topic, (accountId) => this.#versions.delete(accountId));
    changes.onReset(() => this.#versions.clear());
    // What was evaluated before may be of a later time.
    clock.onStep(() => this.#versions.clear());
  }

  /** The instant for comparing hours and leases: the database's, like that of boards. Epoch milliseconds. */
  now(): number {
    return this.#clock.databaseNow();
  }

  /** Ends the version after a turn of this process. The notification would do the same, but later. */
  invalidate(accountId: AccountId): void {
    this.#versions.delete(accountId);
  }

  /** The whole answer for the sites: bytes, ready to send. */
  async render(accountId: AccountId, siteIds: readonly SiteId[]): Promise<Buffer> {
    const now = this.now();
    const sites = await Promise.all(siteIds.map(async (id) => this.site(accountId, id, now)));
    const [only] = sites;
    return sites.length === 1 && only !== undefined ? only.answer : renderQueues(sites.flatMap(({ queues }) => queues));
  }

  /** Returns the same list until a queue may have changed. */
  async list(accountId: AccountId, siteId: SiteId, now = this.now()): Promise<readonly QueueOutput[]> {
    return (await this.site(accountId, siteId, now)).queues;
  }

  async site(accountId: AccountId, siteId: SiteId, now = this.now()): Promise<EvaluatedSite> {
    const version = this.#versionOf(accountId);
    const cached = this.#sites.get(siteId);
    if (cached?.isCurrent(version, now) === true) return cached.at(now);
    const underWay = this.#reads.get(siteId);
    if (underWay !== undefined) {
      // It may have begun before the change that this call must see. If it fails, the next read tells the caller why.
      const found = await underWay.catch(() => null);
      if (found?.isCurrent(version, now) === true) return found.at(now);
    }
    // Whoever else waited shares this read. It began after the call, so it is returned even if there was another change meanwhile.
    const site = await (this.#reads.get(siteId) ?? this.#startRead(accountId, siteId, now));
    return site.at(now);
  }

  #versionOf(accountId: AccountId): object {
    if (!this.#changes.live) return {};
    const known = this.#versions.get(accountId);
    if (known !== undefined) return known;
    const version = {};
    this.#versions.set(accountId, version);
    return version;
  }

  /** The caller has made sure that no read of the site is under way. */
  async #startRead(accountId: AccountId, siteId: SiteId, now: number): Promise<CachedSite> {
    const read = this.#read(accountId, siteId, now).finally(() => this.#reads.delete(siteId));
    this.#reads.set(siteId, read);
    return read;
  }

  async #read(accountId: AccountId, siteId: SiteId, now: number): Promise<CachedSite> {
    const version = this.#versionOf(accountId);
    const rows = await queuesOfSite(this.#sql, siteId);
    const site = new CachedSite(siteId, version, await readInputs(this.#sql, rows, now));
    this.#keep(siteId, site);
    return site;
  }

  #keep(siteId: SiteId, site: CachedSite): void {
    this.#drop(siteId);
    this.#sites.set(siteId, site);
    this.#weight += site.weight;
    for (const oldest of this.#sites.keys()) {
      if (this.#weight <= maxQueues || oldest === siteId) return;
      this.#drop(oldest);
    }
  }

  #drop(siteId: SiteId): void {
    this.#weight -= this.#sites.get(siteId)?.weight ?? 0;
    this.#sites.delete(siteId);
  }
}

/** The queues of a site as they were read, and as they were last evaluated. */
class CachedSite {
  readonly #siteId: SiteId;
  readonly #version: object;
  readonly #inputs: QueueInputs;
  /** When the first of the presence leases ends. */
  readonly #leaseEndsAt: number;
  #evaluated: EvaluatedSite | null = null;

  constructor(siteId: SiteId, version: object, inputs: QueueInputs) {
    this.#siteId = siteId;
    this.#version = version;
    this.#inputs = inputs;
    const leaseEnds = inputs.staff.map(({ expires_at }) => expires_at?.getTime() ?? Infinity);
    this.#leaseEndsAt = leaseEnds.reduce((first, at) => Math.min(first, at), Infinity);
  }

  /** The number of queues in memory. A site without queues takes room, too. */
  get weight(): number {
    return this.#inputs.rows.length + 1;
  }

  isCurrent(version: object, now: number): boolean {
    return version === this.#version && now < this.#leaseEndsAt;
  }

  at(now: number): EvaluatedSite {
    if (this.#evaluated === null || now >= this.#evaluated.validUntil)
      this.#evaluated = new EvaluatedSite(this.#siteId, this.#inputs, now);
    return this.#evaluated;
  }
}
