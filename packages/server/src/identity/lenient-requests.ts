import type { FastifyRequest } from 'fastify';
import type { App } from '../platform/http.ts';
import type { Sql } from '../platform/database.ts';
import { isUuid, type SiteId } from '../platform/ids.ts';
import { areLenient, sitesOfResource } from './lenient-store.ts';

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
