import type { Sql } from '../platform/database/database.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { QueueId, SchedulingPolicyId, SiteId } from '../platform/ids.ts';
import { compileHours, type CompiledHours } from '../schedules/hours.ts';
import { findInOrder } from './find-in-order.ts';
import { queueFields, type QueueRow, type ShownQueue } from './queue.ts';
import { policiesById, queuesById, queuesOfSite, queueVersions } from './store.ts';

/** What is configured and determines the status of queues. */
export interface QueueSettings {
  /** The queues, and those of other sites in their fallback chains. */
  readonly rows: readonly QueueRow[];
  readonly hours: ReadonlyMap<SchedulingPolicyId, CompiledHours>;
  /** The sites of the queues. */
  readonly siteIds: readonly SiteId[];
}

/** The settings of the queues of a site. */
export interface SiteSettings extends QueueSettings {
  readonly siteId: SiteId;
  /** The queues of the site, as answers show them. */
  readonly shown: readonly ShownQueue[];
}

export async function readSettings(sql: Sql, rows: readonly QueueRow[]): Promise<QueueSettings> {
  const policyIds = new Set(rows.flatMap((row) => row.scheduling_policy_id ?? []));
  const policies = await policiesById(sql, [...policyIds]);
  return {
    rows,
    hours: new Map(policies.map((policy) => [policy.id, compiledHours(policy)])),
    siteIds: [...new Set(rows.map((row) => row.site_id))],
  };
}

/** `before` is what was read earlier: rows that have not changed since are taken from there. */
export async function readSiteSettings(sql: Sql, siteId: SiteId, before?: SiteSettings): Promise<SiteSettings> {
  const rows = (await changedRows(sql, siteId, before)) ?? (await queuesOfSite(sql, siteId));
  const rowBefore = findInOrder(before?.rows ?? [], idOf);
  const shownBefore = findInOrder(before?.shown ?? [], idOf);
  const show = (row: QueueRow, n: number): ShownQueue =>
    (rowBefore(row.id, n) === row ? shownBefore(row.id, n) : undefined) ?? queueFields.show(row);
  return {
    ...(await readSettings(sql, rows)),
    siteId,
    shown: rows.flatMap((row, n) => (row.site_id === siteId ? [show(row, n)] : [])),
  };
}

const idOf = ({ id }: { readonly id: QueueId }): QueueId => id;

/** The rows after a change; `undefined`: they must all be read, because the change leads to queues that were not read before. */
async function changedRows(sql: Sql, siteId: SiteId, before?: SiteSettings): Promise<QueueRow[] | undefined> {
  if (before === undefined) return undefined;
  const others = before.rows.flatMap((row) => (row.site_id === siteId ? [] : [row.id]));
  const versions = await queueVersions(sql, siteId, others);
  const known = findInOrder(before.rows, idOf);
  const changed = versions.filter(({ id, version }, n) => known(id, n)?.version !== version).map(idOf);
  const read = new Map((await queuesById(sql, changed)).map((row) => [row.id, row]));
  const rows = versions.flatMap(({ id }, n) => read.get(id) ?? known(id, n) ?? []);
  const ids = new Set(rows.map(({ id }) => id));
  const isComplete = rows.every(({ fallback_queue_id: id }) => id === null || ids.has(id));
  return isComplete ? rows : undefined;
}

/** Compiled policies by id and version, because every change of a queue needs the same ones again. */
const compiledPolicies = new BoundedMap<string, CompiledHours>(10_000);

export function compiledHours(policy: Awaited<ReturnType<typeof policiesById>>[number]): CompiledHours {
  const key = `${policy.id} ${policy.version}`;
  const known = compiledPolicies.get(key) ?? compileHours(policy);
  compiledPolicies.set(key, known);
  return known;
}
