import type { RowChanges } from '../platform/database/row-changes.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId, QueueId, SiteId } from '../platform/ids.ts';
import { AccountEpochs } from './account-epochs.ts';
import { snapshotAt, type Counts, type FactsSnapshot } from './facts.ts';
import { outlookOf, type Outlook } from './outlook.ts';
import { Memberships } from './memberships.ts';
import type { QueueOutput } from './queue.ts';
import { RenderedQueues, wrapQueues } from './rendered-queues.ts';
import { SharedReads } from './shared-reads.ts';
import { SiteCache } from './site-cache.ts';
import { readSiteSettings, type SiteSettings } from './site-settings.ts';
import type { StaffGroup } from './staff.ts';
import { availableOperators, readCounts, teamSets } from './store.ts';

/** Objects that stand for what is known of an account until it changes: what is configured, teams, who is available, who waits. */
interface Epochs {
  readonly settings: object;
  readonly teams: object;
  readonly staff: object;
  readonly counts: object;
}

interface CachedSite {
  /** The epochs in which the parts were read. */
  readonly epochs: Epochs;
  readonly settings: SiteSettings;
  readonly staff: SiteStaff;
  readonly snapshot: FactsSnapshot;
  readonly counts: CachedCounts;
  readonly rendered: RenderedQueues;
  /** How many queues there are: what the cache is limited by. */
  readonly weight: number;
}

interface CachedCounts {
  readonly counts: Counts;
  /** See `readCounts`. */
  readonly horizon: string;
  /** When all counts were read, by `performance.now()`. */
  readonly completeAt: number;
}

interface SiteStaff {
  readonly memberships: Memberships;
  readonly groups: readonly StaffGroup[];
}

/** Reads that are under way while the settings are read. */
interface EarlyRead {
  /** The sites of the staff. */
  readonly siteIds: readonly SiteId[];
  readonly staff: Promise<SiteStaff>;
  readonly counts: Promise<CachedCounts | null>;
}

/** The part of `ClockWatch` that is needed here. */
interface QueueClock {
  databaseNow(): number;
  onStep(stepped: () => void): void;
}

/** The limit of the cache: queues of sites that no feed watches. Each takes a few kilobytes. */
const maxQueues = 100_000;

/** Counts older than this are read again in full. PostgreSQL cannot have given out 2^31 transaction ids meanwhile. */
const countsLastMs = 3_600_000;

/**
 * Caches the rendered queues of sites. The cache of a site is valid during four epochs of its account. A change of the configuration
 * ends the first (the notification `queue_settings`), a change of teams the second (`teams_of_operators`), a change of the staff the
 * third (`queues_of_account`), and a change of the visitor counts the fourth (`queue_counts`, or `queues_of_account` of a turn that changes
 * both). A lost notification channel ends all. Between notifications only time passes, and a snapshot says until when it is valid. The
 * epochs are separate because visitors and operators come and go all the time: such a change reads neither what is configured nor the
 * teams again.
 *
 * A site is read once at a time, whoever asks: a read of a large site takes tens of milliseconds, in which hundreds may ask.
 */
export class SiteQueues {
  readonly #sql: Sql;
  readonly #changes: RowChanges;
  readonly #epochs: Readonly<Record<keyof Epochs, AccountEpochs>>;
  readonly #cache = new SiteCache<CachedSite>(maxQueues);
  readonly #reads = new SharedReads<SiteId, Epochs, CachedSite>();
  readonly #clock: QueueClock;

  constructor(sql: Sql, changes: RowChanges, clock: QueueClock) {
    this.#sql = sql;
    this.#changes = changes;
    this.#clock = clock;
    // `validUntil` was computed before the clock was stepped.
    clock.onStep(() => this.#cache.clear());
    // The database may be another one: versions and transaction ids that were read before mean nothing there.
    changes.onReset(() => this.#cache.clear());
    this.#epochs = {
      settings: new AccountEpochs(changes, ['queue_settings']),
      teams: new AccountEpochs(changes, ['teams_of_operators']),
      staff: new AccountEpochs(changes, ['queues_of_account']),
      // A turn that changes the staff may have changed counts, and sends one notification.
      counts: new AccountEpochs(changes, ['queues_of_account', 'queue_counts']),
    };
  }

  /** The instant for comparing hours and leases: the database's, like that of boards. Epoch milliseconds. */
  now(): number {
    return this.#clock.databaseNow();
  }

  /** Drops what a turn of this process has changed. The notification would do the same, but later. */
  invalidate(accountId: AccountId, what: 'visitors' | 'staff'): void {
    this.#epochs.counts.end(accountId);
    if (what === 'staff') this.#epochs.staff.end(accountId);
  }

  /** Keeps the site in the cache until `unwatch`. */
  watch(siteId: SiteId): void {
    this.#cache.watch(siteId);
  }

  unwatch(siteId: SiteId): void {
    this.#cache.unwatch(siteId);
  }

  /** The whole answer for the site if it is cached: bytes, ready to send. */
  peek(accountId: AccountId, siteId: SiteId): Buffer | null {
    return this.#cached(siteId, this.#epochsOf(accountId), this.now())?.rendered.answer ?? null;
  }

  /** The whole answer for the sites. */
  async render(accountId: AccountId, siteIds: readonly SiteId[], now = this.now()): Promise<Buffer> {
    const sites = await Promise.all(siteIds.map(async (id) => this.#current(accountId, id, now)));
    const [only] = sites;
    if (sites.length === 1 && only !== undefined) return only.rendered.answer;
    return wrapQueues(sites.flatMap(({ rendered: { json } }) => (json === '' ? [] : [json])).join(','));
  }

  async list(accountId: AccountId, siteId: SiteId, now = this.now()): Promise<readonly QueueOutput[]> {
    return (await this.#current(accountId, siteId, now)).rendered.list;
  }

  /** The outlook of the queues with these ids, or of all queues of the site. */
  async outlook(accountId: AccountId, siteId: SiteId, ids: readonly QueueId[] | undefined): Promise<Outlook> {
    const { settings, snapshot } = await this.#current(accountId, siteId, this.now());
    const selected = settings.shown.filter(({ id }) => ids === undefined || ids.includes(id));
    return outlookOf(
      selected.flatMap(({ id }) => snapshot.facts.get(id) ?? []),
      snapshot.openings,
    );
  }

  async #current(accountId: AccountId, siteId: SiteId, now: number): Promise<CachedSite> {
    const epochs = this.#epochsOf(accountId);
    const cached = this.#cached(siteId, epochs, now);
    if (cached !== null) return cached;
    return this.#reads.read(siteId, {
      isFresh: (begun) => isSameEpoch(begun, epochs),
      begin: () => this.#epochsOf(accountId),
      run: async (begun) => this.#read(siteId, begun, now),
    });
  }

  #cached(siteId: SiteId, epochs: Epochs, now: number): CachedSite | null {
    const cached = this.#cache.get(siteId);
    return cached !== undefined && isCurrent(cached, epochs, now) ? cached : null;
  }

  #epochsOf(accountId: AccountId): Epochs {
    return {
      settings: this.#epochs.settings.current(accountId),
      teams: this.#epochs.teams.current(accountId),
      staff: this.#epochs.staff.current(accountId),
      counts: this.#epochs.counts.current(accountId),
    };
  }

  /** Reads what is not of these epochs. `epochs` were taken before, so that a change during the read ends them. */
  async #read(siteId: SiteId, epochs: Epochs, now: number): Promise<CachedSite> {
    // Without notifications nothing tells that the database is still the same one.
    const before = this.#changes.live ? this.#cache.get(siteId) : undefined;
    // Nearly always the queues and their sites are those of before, so staff and counts need not wait for the settings.
    const early = before === undefined ? null : this.#readEarly(before, epochs, now);
    const settings =
      before?.epochs.settings === epochs.settings
        ? before.settings
        : await readSiteSettings(this.#sql, siteId, before?.settings);
    const [staff, counts] = await Promise.all([
      early !== null && isSameList(early.siteIds, settings.siteIds)
        ? early.staff
        : this.#readStaff(settings.siteIds, null, now),
      this.#completeCounts(settings, before, (await early?.counts) ?? null),
    ]);
    const snapshot =
      before?.settings === settings && staff === before.staff
        ? before.snapshot
        : snapshotAt(settings, staff.groups, now);
    const rendered = new RenderedQueues(settings.shown, { snapshot, counts: counts.counts }, before?.rendered ?? null);
    const site = { epochs, settings, staff, snapshot, counts, rendered, weight: settings.rows.length };
    this.#cache.set(siteId, site);
    return site;
  }

  /** Reads staff and counts again for the queues of before, where they are not of these epochs. */
  #readEarly(before: CachedSite, epochs: Epochs, now: number): EarlyRead {
    const { siteIds } = before.settings;
    // After `validUntil` the staff is read again: a renewed lease is not notified.
    const areSameTeams = before.epochs.teams === epochs.teams;
    const isSameStaff = areSameTeams && before.epochs.staff === epochs.staff && now < before.snapshot.validUntil;
    const memberships = areSameTeams ? before.staff.memberships : null;
    const staff = isSameStaff ? Promise.resolve(before.staff) : this.#readStaff(siteIds, memberships, now);
    const counts = this.#readCounts(before, epochs);
    // Reading the settings may fail first. Then these are not awaited, and a failure of theirs is not reported a second time.
    for (const read of [staff, counts]) read.catch(() => undefined);
    return { siteIds, staff, counts };
  }

  async #readStaff(siteIds: readonly SiteId[], known: Memberships | null, now: number): Promise<SiteStaff> {
    const [memberships, available] = await Promise.all([
      known ?? readMemberships(this.#sql, siteIds),
      availableOperators(this.#sql, siteIds, now),
    ]);
    return { memberships, groups: memberships.groupsOf(available) };
  }

  /** The counts of the queues of before; null: too much time has passed since all were read. */
  async #readCounts(
    { settings, counts: known, epochs: begun }: CachedSite,
    epochs: Epochs,
  ): Promise<CachedCounts | null> {
    if (performance.now() - known.completeAt >= countsLastMs) return null;
    if (begun.counts === epochs.counts) return known;
    const ids = settings.rows.map(({ id }) => id);
    const { counts: read, horizon } = await readCounts(this.#sql, { all: [], known: ids, horizon: known.horizon });
    const counts = new Map(known.counts);
    for (const count of read) counts.set(count.id, count);
    return { ...known, counts, horizon };
  }

  /** Adds the counts of queues that are new since `before`, or all if none are known. */
  async #completeCounts(
    settings: SiteSettings,
    before: CachedSite | undefined,
    known: CachedCounts | null,
  ): Promise<CachedCounts> {
    if (known !== null && before?.settings === settings) return known;
    const ids = settings.rows.map(({ id }) => id);
    const missing = known === null ? ids : ids.filter((id) => before?.snapshot.facts.has(id) !== true);
    if (known !== null && missing.length === 0) return known;
    const completeAt = performance.now();
    const { counts, horizon } = await readCounts(this.#sql, { all: missing, known: [], horizon: null });
    const added = counts.map((count) => [count.id, count] as const);
    return known === null
      ? { counts: new Map(added), horizon, completeAt }
      : { ...known, counts: new Map([...known.counts, ...added]) };
  }
}

function isCurrent({ epochs, snapshot }: CachedSite, now: Epochs, at: number): boolean {
  return isSameEpoch(epochs, now) && at < snapshot.validUntil;
}

function isSameEpoch(a: Epochs, b: Epochs): boolean {
  return a.settings === b.settings && a.teams === b.teams && a.staff === b.staff && a.counts === b.counts;
}

async function readMemberships(sql: Sql, siteIds: readonly SiteId[]): Promise<Memberships> {
  return new Memberships(await teamSets(sql, siteIds));
}

function isSameList(a: readonly SiteId[], b: readonly SiteId[]): boolean {
  return a.length === b.length && a.every((id, n) => id === b[n]);
}
