import type { FastifyRequest } from 'fastify';
import type { App } from '../platform/http.ts';
import type { Sql } from '../platform/database.ts';
import { isUuid, type SiteId } from '../platform/ids.ts';

/** Where the sites of what an id names are found, by the name of the id in a path or body. */
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

/**
 * Tells which requests concern sites with `lenient_requests`. It is asked only about a request that has been found to say what is
 * not known, so what it costs nobody else pays.
 *
 * The site of a visitor or an application token is the token's. For an operator the first of these that the request has decides:
 * `site_id` in the path; what an id in the path names; `site_id` in the body; `site_id` or `site_ids` in the query; what an id in
 * the body names; and else every site that the token reaches. Where there are several sites, all of them must have the setting.
 * Sites that the token does not reach never count.
 */
export function installLenientSites(app: App, sql: Sql): void {
  app.concernsLenientSite = async (request) => {
    const sites = await sitesConcerned(sql, request);
    return sites.length > 0 && areLenient(sql, sites);
  };
}

async function sitesConcerned(sql: Sql, request: FastifyRequest): Promise<readonly SiteId[]> {
  const { caller } = request;
  if (caller.kind === 'nobody') return [];
  if (caller.kind !== 'operator') return [caller.siteId];
  const { params, body, query } = {
    params: idsIn(request.params),
    body: idsIn(request.body),
    query: idsIn(request.query),
  };
  const named =
    params.get('site_id') ??
    (await sitesOfResource(sql, params)) ??
    body.get('site_id') ??
    query.get('site_id') ??
    query.get('site_ids') ??
    (await sitesOfResource(sql, body));
  const sites = (named ?? [...caller.roles.keys()]) as readonly SiteId[];
  return sites.every((site) => caller.roles.has(site)) ? sites : [];
}

/** The fields that are an id, or a list of ids. What was sent has not passed its schema. */
function idsIn(sent: unknown): ReadonlyMap<string, readonly string[]> {
  if (typeof sent !== 'object' || sent === null) return new Map();
  return new Map(
    Object.entries(sent).flatMap(([name, value]) => {
      const ids = [value].flat();
      const areIds = ids.length > 0 && ids.every((id) => typeof id === 'string' && isUuid(id));
      return areIds ? [[name, (ids as string[]).map((id) => id.toLowerCase())] as const] : [];
    }),
  );
}

async function sitesOfResource(sql: Sql, ids: ReadonlyMap<string, readonly string[]>): Promise<string[] | null> {
  for (const [name, table] of Object.entries(tables)) {
    const [id] = ids.get(name) ?? [];
    if (id === undefined) continue;
    const rows = await sql<{ site: string }[]>`SELECT site_id AS site FROM ${sql(table)} WHERE id = ${id}`;
    return rows.map(({ site }) => site);
  }
  return null;
}

async function areLenient(sql: Sql, sites: readonly SiteId[]): Promise<boolean> {
  const [row] = await sql<{ lenient: boolean | null }[]>`
    SELECT bool_and(lenient_requests) AS lenient FROM sites WHERE id = ANY(${[...sites]}::uuid[])`;
  return row?.lenient === true;
}
