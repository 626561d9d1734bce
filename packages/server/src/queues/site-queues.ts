import { BoundedMap } from '../platform/bounded-map.ts';
import type { ChangeFeed } from '../platform/change-feed.ts';
import type { Sql } from '../platform/database.ts';
import type { AccountId, QueueId, SchedulingPolicyId, SiteId, TeamId } from '../platform/ids.ts';
import { RowCache } from '../platform/row-cache.ts';
import { compileHours, isOpen, nextChange, type CompiledHours } from '../schedules/hours.ts';
import { mediaOf, type QueueOutput, type QueueRow } from './queue.ts';
import { evaluate, staffs, type QueueFacts } from './status.ts';
import {
  availableOperators,
  countVisitors,
  policiesById,
  queuesOfSite,
  type AvailableOperator,
  type QueueCount,
} from './store.ts';

/** What was read of a site's queues and of all their status follows from, but for the time. */
interface Material {
  readonly siteId: SiteId;
  readonly rows: readonly QueueRow[];
  readonly hours: ReadonlyMap<SchedulingPolicyId, CompiledHours>;
  readonly operators: readonly AvailableOperator[];
  readonly counts: ReadonlyMap<QueueId, QueueCount>;
}

async function readMaterial(sql: Sql, siteId: SiteId): Promise<Material> {
  const rows = await queuesOfSite(sql, siteId);
  const policyIds = new Set(rows.flatMap((row) => row.scheduling_policy_id ?? []));
  const [policies, operators, counts] = await Promise.all([
    policiesById(sql, [...policyIds]),
    availableOperators(sql, [...new Set(rows.map((row) => row.site_id))]),
    countVisitors(
      sql,
      rows.map((row) => row.id),
    ),
  ]);
  return {
    siteId,
    rows,
    hours: new Map(policies.map((policy) => [policy.id, compiledHours(policy)])),
    operators,
    counts: new Map(counts.map((count) => [count.id, count])),
  };
}

/** Compiled policies by id and version: the same ones are asked for with every change of a queue. */
const compiledPolicies = new BoundedMap<string, CompiledHours>(1_000);

export function compiledHours(policy: Awaited<ReturnType<typeof policiesById>>[number]): CompiledHours {
  const key = `${policy.id} ${policy.version}`;
  const known = compiledPolicies.get(key) ?? compileHours(policy);
  compiledPolicies.set(key, known);
  return known;
}

/** A site's queues as they are at an instant, and until when they stay so unless something is changed. */
interface Snapshot {
  readonly queues: QueueOutput[];
  readonly validUntil: number;
}

function takeSnapshot(material: Material, now: number): Snapshot {
  const facts = new Map(material.rows.map((row) => [row.id, factsOf(material, row, now)]));
  const queues = material.rows
    .filter((row) => row.site_id === material.siteId)
    .map((row) => outputOf(row, facts, material.counts.get(row.id)));
  return { queues, validUntil: nextTurn(material, now) };
}

function factsOf({ hours, operators, counts }: Material, row: QueueRow, now: number): QueueFacts {
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
    visitors: counts.get(row.id)?.visitors ?? 0,
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

function outputOf(row: QueueRow, facts: ReadonlyMap<QueueId, QueueFacts>, count: QueueCount | undefined): QueueOutput {
  const own = facts.get(row.id);
  if (own === undefined) throw new Error('a queue has no facts');
  const { self_status, status, capacity, media } = evaluate(own, facts);
  return {
    id: row.id,
    site_id: row.site_id,
    name: row.name,
    description: row.description,
    capacity,
    capacity_policy: row.capacity_policy,
    routing_policy: row.routing_policy,
    available_properties: { media: [...media] },
    status,
    self_status,
    when_unstaffed: row.when_unstaffed,
    operator_ranking_enabled: row.operator_ranking_enabled,
    welcome_message: row.welcome_message,
    scheduling_policy_id: row.scheduling_policy_id,
    fallback_queue_id: row.fallback_queue_id,
    operator_affinity: row.operator_affinity,
    visitors_count: count?.visitors ?? 0,
    average_wait_time: Math.round((count?.average_wait ?? 0) * 1000) / 1000,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** One queue as it is now, read on `sql`: also inside the transaction that has just changed it. */
export async function readQueue(
  sql: Sql,
  { id, site_id }: Pick<QueueRow, 'id' | 'site_id'>,
  now: number,
): Promise<QueueOutput> {
  const { queues } = takeSnapshot(await readMaterial(sql, site_id), now);
  const found = queues.find((queue) => queue.id === id);
  if (found === undefined) throw new Error('a queue has vanished');
  return found;
}

interface Held {
  readonly epoch: object;
  readonly material: Material;
  snapshot: Snapshot;
  /** The snapshot as JSON, without the brackets around it. */
  json: string;
  /** The bytes of the answer that has this site alone. */
  answer: Buffer;
}

/** So many sites' queues are held at once. */
const mostSites = 1_000;
const mostAccounts = 10_000;

/**
 * Sites' queues kept in memory, rendered. What is held of a site is good while its account's epoch lasts: any change that
 * can move a status ends it (`queues_of_account` on the change feed), and so does a feed that is deaf. In between only time
 * passes, and a snapshot says until when it stands.
 */
export class SiteQueues {
  readonly #sql: Sql;
  readonly #epochs: RowCache<object>;
  readonly #held = new BoundedMap<SiteId, Held>(mostSites);

  constructor(sql: Sql, feed: ChangeFeed) {
    this.#sql = sql;
    this.#epochs = new RowCache({ feed, tables: ['queues_of_account'], limit: mostAccounts, load: async () => ({}) });
  }

  /** Something in the account has moved, in this process: others hear of it by the feed, and so would we, but later. */
  forget(accountId: AccountId): void {
    this.#epochs.drop(accountId);
  }

  /** The whole answer for the sites: kept as bytes, so that nothing is left to do for a site but to send them. */
  async render(accountId: AccountId, siteIds: readonly SiteId[], now = Date.now()): Promise<Buffer> {
    const sites = await Promise.all(siteIds.map(async (id) => this.#current(accountId, id, now)));
    const [only] = sites;
    if (sites.length === 1 && only !== undefined) return only.answer;
    return wrap(sites.flatMap((held) => (held.json === '' ? [] : [held.json])).join(','));
  }

  async list(accountId: AccountId, siteId: SiteId, now = Date.now()): Promise<readonly QueueOutput[]> {
    return (await this.#current(accountId, siteId, now)).snapshot.queues;
  }

  async #current(accountId: AccountId, siteId: SiteId, now: number): Promise<Held> {
    const epoch = await this.#epochs.get(accountId);
    const held = this.#held.get(siteId);
    if (held?.epoch === epoch) return now < held.snapshot.validUntil ? held : refresh(held, now);
    const material = await readMaterial(this.#sql, siteId);
    const blank: Held = { epoch, material, snapshot: { queues: [], validUntil: 0 }, json: '', answer: wrap('') };
    const fresh = refresh(blank, now);
    this.#held.delete(siteId);
    this.#held.set(siteId, fresh);
    return fresh;
  }
}

function refresh(held: Held, now: number): Held {
  held.snapshot = takeSnapshot(held.material, now);
  held.json = held.snapshot.queues.map((queue) => JSON.stringify(queue)).join(',');
  held.answer = wrap(held.json);
  return held;
}

function wrap(queues: string): Buffer {
  return Buffer.from(`{"queues":[${queues}],"next_page":null}`);
}
