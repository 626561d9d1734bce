import { BoundedMap } from '../platform/bounded-map.ts';
import type { ChangeFeed } from '../platform/change-feed.ts';
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

/** What was read of a site's queues and of all their status follows from, but for who waits in them, and the time. */
interface Material {
  readonly rows: readonly QueueRow[];
  /** The queues of the site itself, as answers show them. */
  readonly shown: readonly ShownQueue[];
  readonly hours: ReadonlyMap<SchedulingPolicyId, CompiledHours>;
  readonly operators: readonly AvailableOperator[];
}

type Counts = ReadonlyMap<QueueId, QueueCount>;

async function readMaterial(sql: Sql, siteId: SiteId): Promise<Material> {
  return readMaterialOf(sql, siteId, await queuesOfSite(sql, siteId));
}

async function readMaterialOf(sql: Sql, siteId: SiteId, rows: readonly QueueRow[]): Promise<Material> {
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

async function readCounts(sql: Sql, { rows }: Material): Promise<Counts> {
  const ids = rows.map((row) => row.id);
  return new Map((await countVisitors(sql, ids)).map((count) => [count.id, count]));
}

/** Compiled policies by id and version: the same ones are asked for with every change of a queue. */
const compiledPolicies = new BoundedMap<string, CompiledHours>(1_000);

export function compiledHours(policy: Awaited<ReturnType<typeof policiesById>>[number]): CompiledHours {
  const key = `${policy.id} ${policy.version}`;
  const known = compiledPolicies.get(key) ?? compileHours(policy);
  compiledPolicies.set(key, known);
  return known;
}

/** What is true of the queues until an instant, unless something is changed; who waits in them is not among it. */
interface Setting {
  readonly facts: ReadonlyMap<QueueId, Omit<QueueFacts, 'visitors'>>;
  /** When those open that are closed by their hours. */
  readonly openings: ReadonlyMap<QueueId, number>;
  readonly validUntil: number;
}

function settingAt(material: Material, now: number): Setting {
  const facts = new Map(material.rows.map((row) => [row.id, factsOf(material, row, now)]));
  return { facts, openings: openingsOf(material, now), validUntil: nextTurn(material, now) };
}

function openingsOf({ rows, hours }: Material, now: number): Map<QueueId, number> {
  const closed = [...hours].filter(([, compiled]) => !isOpen(compiled, now));
  const byPolicy = new Map(closed.map(([id, compiled]) => [id, nextChange(compiled, now)]));
  const openings = new Map<QueueId, number>();
  for (const { id, scheduling_policy_id: policyId } of rows) {
    const opensAt = policyId === null ? null : (byPolicy.get(policyId) ?? null);
    if (opensAt !== null) openings.set(id, opensAt);
  }
  return openings;
}

function evaluateAll({ shown }: Material, { facts: standing }: Setting, counts: Counts): QueueOutput[] {
  const facts = new Map<QueueId, QueueFacts>();
  for (const [id, fact] of standing) facts.set(id, { ...fact, visitors: counts.get(id)?.visitors ?? 0 });
  return shown.map((queue) => outputOf(queue, facts, counts.get(queue.id)));
}

function factsOf({ hours, operators }: Material, row: QueueRow, now: number): Omit<QueueFacts, 'visitors'> {
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

/** The next instant at which time alone may change something: hours turn, or what an operator said runs out. */
function nextTurn({ hours, operators }: Material, now: number): number {
  const turns = [...hours.values()].map((compiled) => nextChange(compiled, now) ?? Infinity);
  const ends = operators.map(({ expires_at }) => expires_at?.getTime() ?? Infinity).filter((end) => end > now);
  return [...turns, ...ends].reduce((first, turn) => Math.min(first, turn), Infinity);
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

/** One queue as it is now, read on `sql`: also inside the transaction that has just changed it. */
export async function readQueue(
  sql: Sql,
  { id, site_id }: Pick<QueueRow, 'id' | 'site_id'>,
  now: number,
): Promise<QueueOutput> {
  const material = await readMaterial(sql, site_id);
  const queues = evaluateAll(material, settingAt(material, now), await readCounts(sql, material));
  const found = queues.find((queue) => queue.id === id);
  if (found === undefined) throw new Error('a queue has vanished');
  return found;
}

/** What would be if a queue were so: as it would be shown, and what that follows from. */
export interface Supposed {
  readonly output: QueueOutput;
  readonly staff: number;
  readonly withinHours: boolean;
  /** When its hours turn next; null: never, or it has none. */
  readonly hoursChangeAt: number | null;
  /** The queues that its fallbacks lead to, each with its own status. */
  readonly fallbacks: ReadonlyMap<QueueId, QueueOutput['self_status']>;
}

/** A queue as it would be now, stored or not, with the queues that its fallbacks lead to. Nothing is written. */
export async function supposeQueue(
  sql: Sql,
  row: QueueRow,
  fallbacks: readonly QueueRow[],
  now: number,
): Promise<Supposed> {
  const material = await readMaterialOf(sql, row.site_id, [row, ...fallbacks.filter(({ id }) => id !== row.id)]);
  const counts = await readCounts(sql, material);
  const facts = new Map<QueueId, QueueFacts>();
  for (const [id, fact] of settingAt(material, now).facts)
    facts.set(id, { ...fact, visitors: counts.get(id)?.visitors ?? 0 });
  const own = facts.get(row.id);
  if (own === undefined) throw new Error('a queue has no facts');
  const hours = row.scheduling_policy_id === null ? undefined : material.hours.get(row.scheduling_policy_id);
  return {
    output: outputOf(queueFields.show(row), facts, counts.get(row.id)),
    staff: own.staff.length,
    withinHours: own.open,
    hoursChangeAt: hours === undefined ? null : nextChange(hours, now),
    fallbacks: new Map([...facts].map(([id, fact]) => [id, evaluate(fact, facts).self_status])),
  };
}

interface Held {
  /** Of what is configured and who is there, and of who waits. */
  readonly epoch: object;
  countsEpoch: object;
  readonly material: Material;
  readonly setting: Setting;
  counts: Counts;
  queues: QueueOutput[];
  /** The queues as JSON, without the brackets around them. */
  json: string;
  /** The bytes of the answer that has this site alone. */
  answer: Buffer;
}

/** What is asked of the database's clock: see `ClockWatch`. */
interface QueueClock {
  databaseNow(): number;
  onStep(stepped: () => void): void;
}

/** So many sites' queues are held at once. */
const mostSites = 1_000;
const mostAccounts = 10_000;

/**
 * Sites' queues kept in memory, rendered. What is held of a site is good while two epochs of its account last: any change
 * of what is configured or of who is there ends the one (`queues_of_account` on the change feed), any change of who waits
 * the other (`queue_counts`), and a deaf feed both. In between only time passes, and a setting says until when it stands.
 * Visitors come and go all the time, so what that does not change is not read or worked out again.
 */
export class SiteQueues {
  readonly #sql: Sql;
  readonly #epochs: RowCache<object>;
  readonly #countsEpochs: RowCache<object>;
  readonly #held = new BoundedMap<SiteId, Held>(mostSites);
  readonly #clock: QueueClock;

  constructor(sql: Sql, feed: ChangeFeed, clock: QueueClock) {
    this.#sql = sql;
    this.#clock = clock;
    // Until when a setting stands was reckoned by the clock as it was.
    clock.onStep(() => this.#held.clear());
    const load = async (): Promise<object> => ({});
    this.#epochs = new RowCache({ feed, tables: ['queues_of_account'], limit: mostAccounts, load });
    this.#countsEpochs = new RowCache({ feed, tables: ['queue_counts'], limit: mostAccounts, load });
  }

  /** The instant that hours and leases are compared with: the database's, as boards have it. Epoch milliseconds. */
  now(): number {
    return this.#clock.databaseNow();
  }

  /** Something in the account has moved, in this process: others hear of it by the feed, and so would we, but later. */
  forget(accountId: AccountId, what: 'visitors' | 'staff'): void {
    this.#countsEpochs.drop(accountId);
    if (what === 'staff') this.#epochs.drop(accountId);
  }

  /** The whole answer for the sites: kept as bytes, so that nothing is left to do for a site but to send them. */
  async render(accountId: AccountId, siteIds: readonly SiteId[], now = this.now()): Promise<Buffer> {
    const sites = await Promise.all(siteIds.map(async (id) => this.#current(accountId, id, now)));
    const [only] = sites;
    if (sites.length === 1 && only !== undefined) return only.answer;
    return wrap(sites.flatMap((held) => (held.json === '' ? [] : [held.json])).join(','));
  }

  async list(accountId: AccountId, siteId: SiteId, now = this.now()): Promise<readonly QueueOutput[]> {
    return (await this.#current(accountId, siteId, now)).queues;
  }

  /** Of the queues with these ids, else of all of the site. */
  async outlook(accountId: AccountId, siteId: SiteId, ids: readonly QueueId[] | undefined): Promise<Outlook> {
    const { queues, setting } = await this.#current(accountId, siteId, this.now());
    const wanted = queues.filter(({ id }) => ids === undefined || ids.includes(id));
    return outlookOf(
      wanted.flatMap(({ id }) => setting.facts.get(id) ?? []),
      setting.openings,
    );
  }

  async #current(accountId: AccountId, siteId: SiteId, now: number): Promise<Held> {
    // Looked at without waiting where they are known, as they mostly are.
    const epoch = this.#epochs.peek(accountId) ?? (await this.#epochs.get(accountId));
    const countsEpoch = this.#countsEpochs.peek(accountId) ?? (await this.#countsEpochs.get(accountId));
    const held = this.#held.get(siteId);
    // What an operator said may have been renewed since, which nobody announces.
    if (held?.epoch !== epoch || now >= held.setting.validUntil) return this.#read(siteId, { epoch, countsEpoch }, now);
    if (held.countsEpoch !== countsEpoch) {
      held.counts = await readCounts(this.#sql, held.material);
      held.countsEpoch = countsEpoch;
    } else if (now < held.setting.validUntil) return held;
    return rendered(held);
  }

  async #read(siteId: SiteId, epochs: Pick<Held, 'epoch' | 'countsEpoch'>, now: number): Promise<Held> {
    const material = await readMaterial(this.#sql, siteId);
    const counts = await readCounts(this.#sql, material);
    const setting = settingAt(material, now);
    const held = rendered({ ...epochs, material, setting, counts, queues: [], json: '', answer: wrap('') });
    this.#held.delete(siteId);
    this.#held.set(siteId, held);
    return held;
  }
}

function rendered(held: Held): Held {
  held.queues = evaluateAll(held.material, held.setting, held.counts);
  held.json = held.queues.map((queue) => JSON.stringify(queue)).join(',');
  held.answer = wrap(held.json);
  return held;
}

function wrap(queues: string): Buffer {
  return Buffer.from(`{"queues":[${queues}],"next_page":null}`);
}
