import type { FastifyRequest } from 'fastify';
import type { App } from '../platform/http/http.ts';
import type { Sql } from '../platform/database/database.ts';
import { isUuid, type SiteId } from '../platform/ids.ts';
import { areLenient, sitesOfResource } from './lenient-store.ts';

/**
 * Decides whether a request concerns only sites with `lenient_requests`. Only requests with unknown fields are checked, so other
 * requests do not pay for the queries.
 *
 * For visitors and application tokens, it is the site of the token. For operators, the first of these that the request has decides:
 * `site_id` in the path; the resource that an id in the path names; `site_id` in the body; `site_id` or `site_ids` in the query;
 * the resource that an id in the body names; otherwise every site that the token reaches. All of the sites must have the setting,
 * and the token must reach all of them.
 */
export function installLenientSites(app: App, sql: Sql): void {
  app.concernsLenientSite = async (request) => {
    const sites = await sitesConcerned(sql, request);
    return sites.length > 0 && areLenient(sql, sites);
  };
}

async function sitesConcerned(sql: Sql, request: FastifyRequest): Promise<readonly SiteId[]> {
  const { caller } = request;
  if (caller.kind === 'anonymous') return [];
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

/** The fields that hold an id or a list of ids. The input has not been validated yet. */
function idsIn(input: unknown): ReadonlyMap<string, readonly string[]> {
  if (typeof input !== 'object' || input === null) return new Map();
  return new Map(
    Object.entries(input).flatMap(([name, value]) => {
      const ids = [value].flat();
      const areIds = ids.length > 0 && ids.every((id) => typeof id === 'string' && isUuid(id));
      return areIds ? [[name, (ids as string[]).map((id) => id.toLowerCase())] as const] : [];
    }),
  );
}
