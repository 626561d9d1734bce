import { BoundedMap } from '../platform/bounded-map.ts';
import type { RowChanges } from '../platform/row-changes.ts';
import type { Sql } from '../platform/database.ts';
import type { AccountId, QueueId, SchedulingPolicyId, SiteId, TeamId } from '../platform/ids.ts';
import { RowCache } from '../platform/row-cache.ts';
import { compileHours, isOpen, nextChange, type CompiledHours } from '../schedules/hours.ts';
import { mediaOf, queueFields, type QueueOutput, type QueueRow, type ShownQueue } from './queue.ts';
import { outlookOf, type Outlook } from './outlook.ts';
import { evaluate, staffs, type QueueFacts } from './status.ts';
import {
  availableOperators,
  countVisitors,
  policiesById,
  queuesOfSite,
  type AvailableOperator,
  type QueueCount,
} from './store.ts';

/** The rows that determine the status of a site's queues, except the visitor counts. */
interface SiteRows {
  /** The queues of the site, and those of other sites in their fallback chains. */
  readonly rows: readonly QueueRow[];
  /** The queues of the site, as answers show them. */
  readonly shown: readonly ShownQueue[];
  readonly hours: ReadonlyMap<SchedulingPolicyId, CompiledHours>;
  readonly operators: readonly AvailableOperator[];
}

type Counts = ReadonlyMap<QueueId, QueueCount>;

async function readSiteRows(sql: Sql, siteId: SiteId): Promise<SiteRows> {
  return readSiteRowsFor(sql, siteId, await queuesOfSite(sql, siteId));
}

async function readSiteRowsFor(sql: Sql, siteId: SiteId, rows: readonly QueueRow[]): Promise<SiteRows> {
  const policyIds = new Set(rows.flatMap((row) => row.scheduling_policy_id ?? []));
  const [policies, operators] = await Promise.all([
    policiesById(sql, [...policyIds]),
    availableOperators(sql, [...new Set(rows.map((row) => row.site_id))]),
  ]);
  return {
    rows,
    shown: rows.filter((row) => row.site_id === siteId).map((row) => queueFields.show(row)),
    hours: new Map(policies.map((policy) => [policy.id, compiledHours(policy)])),
    operators,
  };
}

async function readCounts(sql: Sql, { rows }: SiteRows): Promise<Counts> {
  const ids = rows.map((row) => row.id);
  return new Map((await countVisitors(sql, ids)).map((count) => [count.id, count]));
}

/** Compiled policies by id and version, because every change of a queue needs the same ones again. */
const compiledPolicies = new BoundedMap<string, CompiledHours>(1_000);

export function compiledHours(policy: Awaited<ReturnType<typeof policiesById>>[number]): CompiledHours {
  const key = `${policy.id} ${policy.version}`;
  const known = compiledPolicies.get(key) ?? compileHours(policy);
  compiledPolicies.set(key, known);
  return known;
}

/** The facts of the queues at an instant, without visitor counts. They are valid until `validUntil` unless a row changes. */
interface FactsSnapshot {
  readonly facts: ReadonlyMap<QueueId, Omit<QueueFacts, 'visitors'>>;
  /** The next opening of each queue that is outside its hours. */
  readonly openings: ReadonlyMap<QueueId, number>;
  readonly validUntil: number;
}

function snapshotAt(siteRows: SiteRows, now: number): FactsSnapshot {
  const facts = new Map(siteRows.rows.map((row) => [row.id, factsOf(siteRows, row, now)]));
  return { facts, openings: openingsOf(siteRows, now), validUntil: nextChangeByTime(siteRows, now) };
}

function openingsOf({ rows, hours }: SiteRows, now: number): Map<QueueId, number> {
  const closed = [...hours].filter(([, compiled]) => !isOpen(compiled, now));
  const byPolicy = new Map(closed.map(([id, compiled]) => [id, nextChange(compiled, now)]));
  const openings = new Map<QueueId, number>();
  for (const { id, scheduling_policy_id: policyId } of rows) {
    const opensAt = policyId === null ? null : (byPolicy.get(policyId) ?? null);
    if (opensAt !== null) openings.set(id, opensAt);
  }
  return openings;
}

function evaluateAll({ shown }: SiteRows, snapshot: FactsSnapshot, counts: Counts): QueueOutput[] {
  const facts = new Map<QueueId, QueueFacts>();
  for (const [id, fact] of snapshot.facts) facts.set(id, { ...fact, visitors: counts.get(id)?.visitors ?? 0 });
  return shown.map((queue) => outputOf(queue, facts, counts.get(queue.id)));
}

function factsOf({ hours, operators }: SiteRows, row: QueueRow, now: number): Omit<QueueFacts, 'visitors'> {
  const compiled = row.scheduling_policy_id === null ? undefined : hours.get(row.scheduling_policy_id);
  const media = mediaOf(row);
  const { team_ids: teams = [] } = row.routing_policy;
  const staff = operators.filter(
    (operator) => isPresent(operator, now) && serves(operator, row.site_id, teams) && staffs(operator.media, media),
  );
  return {
    id: row.id,
    fallback_queue_id: row.fallback_queue_id,
    open: compiled === undefined || isOpen(compiled, now),
    capacity_policy: row.capacity_policy,
    when_unstaffed: row.when_unstaffed,
    media,
    staff: staff.map((operator) => operator.media),
  };
}

function isPresent({ expires_at }: AvailableOperator, now: number): boolean {
  return expires_at === null || expires_at.getTime() > now;
}

function serves({ site_id, team_ids }: AvailableOperator, siteId: SiteId, teams: readonly TeamId[]): boolean {
  return site_id === siteId && (teams.length === 0 || teams.some((team) => team_ids.includes(team)));
}

/** The next instant at which time alone changes the facts: the hours of a queue change, or an operator's lease ends. */
function nextChangeByTime({ hours, operators }: SiteRows, now: number): number {
  const hoursChanges = [...hours.values()].map((compiled) => nextChange(compiled, now) ?? Infinity);
  const leaseEnds = operators.map(({ expires_at }) => expires_at?.getTime() ?? Infinity).filter((end) => end > now);
  return [...hoursChanges, ...leaseEnds].reduce((first, at) => Math.min(first, at), Infinity);
}

function outputOf(
  queue: ShownQueue,
  facts: ReadonlyMap<QueueId, QueueFacts>,
  count: QueueCount | undefined,
): QueueOutput {
  const own = facts.get(queue.id);
  if (own === undefined) throw new Error('a queue has no facts');
  const { self_status, status, capacity, media } = evaluate(own, facts);
  return {
    ...queue,
    capacity,
    available_properties: { media: [...media] },
    status,
    self_status,
    staffed: own.staff.length > 0,
    visitors_count: count?.visitors ?? 0,
    average_wait_time: Math.round((count?.average_wait ?? 0) * 1000) / 1000,
  };
}

/** Reads and evaluates one queue on `sql`, which may be the transaction that has just changed the queue. */
export async function readQueue(
  sql: Sql,
  { id, site_id }: Pick<QueueRow, 'id' | 'site_id'>,
  now: number,
): Promise<QueueOutput> {
  const siteRows = await readSiteRows(sql, site_id);
  const queues = evaluateAll(siteRows, snapshotAt(siteRows, now), await readCounts(sql, siteRows));
  const found = queues.find((queue) => queue.id === id);
  if (found === undefined) throw new Error(`the queue ${id} does not exist`);
  return found;
}

/** The evaluation of a queue that may not be stored. */
export interface QueueProjection {
  readonly output: QueueOutput;
  readonly staff: number;
  readonly withinHours: boolean;
  /** When the queue next opens or closes by its hours; null: never. */
  readonly hoursChangeAt: number | null;
  /** The `self_status` of each queue in the fallback chain. */
  readonly fallbacks: ReadonlyMap<QueueId, QueueOutput['self_status']>;
}

/** Evaluates a queue, stored or not, with its fallback chain. Nothing is written. */
export async function projectQueue(
  sql: Sql,
  row: QueueRow,
  fallbacks: readonly QueueRow[],
  now: number,
): Promise<QueueProjection> {
  const siteRows = await readSiteRowsFor(sql, row.site_id, [row, ...fallbacks.filter(({ id }) => id !== row.id)]);
  const counts = await readCounts(sql, siteRows);
  const facts = new Map<QueueId, QueueFacts>();
  for (const [id, fact] of snapshotAt(siteRows, now).facts)
    facts.set(id, { ...fact, visitors: counts.get(id)?.visitors ?? 0 });
  const own = facts.get(row.id);
  if (own === undefined) throw new Error('a queue has no facts');
  const hours = row.scheduling_policy_id === null ? undefined : siteRows.hours.get(row.scheduling_policy_id);
  return {
    output: outputOf(queueFields.show(row), facts, counts.get(row.id)),
    staff: own.staff.length,
    withinHours: own.open,
    hoursChangeAt: hours === undefined ? null : nextChange(hours, now),
    fallbacks: new Map([...facts].map(([id, fact]) => [id, evaluate(fact, facts).self_status])),
  };
}

interface CachedSite {
  /** The epochs in which the rows and the counts were read. */
  readonly epoch: object;
  countsEpoch: object;
  readonly siteRows: SiteRows;
  readonly snapshot: FactsSnapshot;
  counts: Counts;
  queues: QueueOutput[];
  /** The queues as JSON, without the brackets around them. */
  json: string;
  /** The answer to a request for this site only. */
  answer: Buffer;
}

/** The part of `ClockWatch` that is needed here. */
interface QueueClock {
  databaseNow(): number;
  onStep(stepped: () => void): void;
}

/** Cache limits. */
const maxSites = 1_000;
const maxAccounts = 10_000;

/**
 * Caches the rendered queues of sites. The cache of a site is valid during two epochs of its account. Any change of the
 * configuration or of the staff ends the first (the notification `queues_of_account`), any change of the visitor counts ends the
 * second (`queue_counts`), and a lost notification channel ends both. Between notifications only time passes, and a snapshot says
 * until when it is valid. The epochs are separate because visitors come and go all the time: a change of the counts does not read
 * the rows again.
 */
export class SiteQueues {
  readonly #sql: Sql;
  readonly #epochs: RowCache<object>;
  readonly #countsEpochs: RowCache<object>;
  readonly #cache = new BoundedMap<SiteId, CachedSite>(maxSites);
  readonly #clock: QueueClock;

  constructor(sql: Sql, changes: RowChanges, clock: QueueClock) {
    this.#sql = sql;
    this.#clock = clock;
    // `validUntil` was computed before the clock was stepped.
    clock.onStep(() => this.#cache.clear());
    const load = async (): Promise<object> => ({});
    this.#epochs = new RowCache({ changes, tables: ['queues_of_account'], limit: maxAccounts, load });
    this.#countsEpochs = new RowCache({ changes, tables: ['queue_counts'], limit: maxAccounts, load });
  }

  /** The instant for comparing hours and leases: the database's, like that of boards. Epoch milliseconds. */
  now(): number {
    return this.#clock.databaseNow();
  }

  /** Drops what a turn of this process has changed. The notification would do the same, but later. */
  invalidate(accountId: AccountId, what: 'visitors' | 'staff'): void {
    this.#countsEpochs.drop(accountId);
    if (what === 'staff') this.#epochs.drop(accountId);
  }

  /** The whole answer for the sites. For one site it is cached as bytes, ready to send. */
  async render(accountId: AccountId, siteIds: readonly SiteId[], now = this.now()): Promise<Buffer> {
    const sites = await Promise.all(siteIds.map(async (id) => this.#current(accountId, id, now)));
    const [only] = sites;
    if (sites.length === 1 && only !== undefined) return only.answer;
    return wrap(sites.flatMap((cached) => (cached.json === '' ? [] : [cached.json])).join(','));
  }

  async list(accountId: AccountId, siteId: SiteId, now = this.now()): Promise<readonly QueueOutput[]> {
    return (await this.#current(accountId, siteId, now)).queues;
  }

  /** The outlook of the queues with these ids, or of all queues of the site. */
  async outlook(accountId: AccountId, siteId: SiteId, ids: readonly QueueId[] | undefined): Promise<Outlook> {
    const { queues, snapshot } = await this.#current(accountId, siteId, this.now());
    const selected = queues.filter(({ id }) => ids === undefined || ids.includes(id));
    return outlookOf(
      selected.flatMap(({ id }) => snapshot.facts.get(id) ?? []),
      snapshot.openings,
    );
  }

  async #current(accountId: AccountId, siteId: SiteId, now: number): Promise<CachedSite> {
    // `peek` avoids an await: the epochs are nearly always known.
    const epoch = this.#epochs.peek(accountId) ?? (await this.#epochs.get(accountId));
    const countsEpoch = this.#countsEpochs.peek(accountId) ?? (await this.#countsEpochs.get(accountId));
    const cached = this.#cache.get(siteId);
    // After `validUntil` the rows are read again: a renewed lease is not notified.
    if (cached?.epoch !== epoch || now >= cached.snapshot.validUntil)
      return this.#read(siteId, { epoch, countsEpoch }, now);
    if (cached.countsEpoch !== countsEpoch) {
      cached.counts = await readCounts(this.#sql, cached.siteRows);
      cached.countsEpoch = countsEpoch;
    } else if (now < cached.snapshot.validUntil) return cached;
    return rendered(cached);
  }

  async #read(siteId: SiteId, epochs: Pick<CachedSite, 'epoch' | 'countsEpoch'>, now: number): Promise<CachedSite> {
    const siteRows = await readSiteRows(this.#sql, siteId);
    const counts = await readCounts(this.#sql, siteRows);
    const snapshot = snapshotAt(siteRows, now);
    const cached = rendered({ ...epochs, siteRows, snapshot, counts, queues: [], json: '', answer: wrap('') });
    this.#cache.delete(siteId);
    this.#cache.set(siteId, cached);
    return cached;
  }
}

function rendered(cached: CachedSite): CachedSite {
  cached.queues = evaluateAll(cached.siteRows, cached.snapshot, cached.counts);
  cached.json = cached.queues.map((queue) => JSON.stringify(queue)).join(',');
  cached.answer = wrap(cached.json);
  return cached;
}

function wrap(queues: string): Buffer {
  return Buffer.from(`{"queues":[${queues}],"next_page":null}`);
}
