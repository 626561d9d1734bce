import type { Sql } from '../platform/database/database.ts';
import type { SiteId } from '../platform/ids.ts';

/** The table of each resource, by the name of its id in a path or body. */
const tables = {
  queue_id: 'queues',
  scheduling_policy_id: 'scheduling_policies',
  team_id: 'teams',
  engagement_id: 'engagements',
  ticket_id: 'queue_tickets',
  request_id: 'engagement_requests',
  visitor_id: 'visitors',
  sip_domain_id: 'sip_domains',
} as const;

/** The sites of the resource that the first supported id names; `null` if there is no such id. */
export async function sitesOfResource(sql: Sql, ids: ReadonlyMap<string, readonly string[]>): Promise<string[] | null> {
  for (const [name, table] of Object.entries(tables)) {
    const [id] = ids.get(name) ?? [];
    if (id === undefined) continue;
    const rows = await sql<{ site: string }[]>`SELECT site_id AS site FROM ${sql(table)} WHERE id = ${id}`;
    return rows.map(({ site }) => site);
  }
  return null;
}

/** Whether every one of the sites has `lenient_requests`. */
export async function areLenient(sql: Sql, sites: readonly SiteId[]): Promise<boolean> {
  const [row] = await sql<{ lenient: boolean | null }[]>`
    SELECT bool_and(lenient_requests) AS lenient FROM sites WHERE id = ANY(${[...sites]}::uuid[])`;
  return row?.lenient === true;
}
