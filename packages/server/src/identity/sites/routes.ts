import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../../platform/http/etag.ts';
import { rendered, type App } from '../../platform/http/http.ts';
import { newId, type SiteId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import type { Directory, CachedSite } from '../directory.ts';
import { lockAccount } from '../lock-account.ts';
import { lockOperator } from '../operators/store.ts';
import { hostnameSpellings, hostname } from './hostname.ts';
import { siteFields, siteInput, siteOutput, siteUpdate, type SiteRow, type SiteSettings } from './site.ts';
import { findSite, insertSite, listSites, updateSite } from './store.ts';

const siteParams = Type.Object({ site_id: uuid<'site'>() });
const tags = ['Sites'];

export function siteRoutes(app: App, directory: Directory): void {
  app.get(
    '/sites',
    {
      config: { access: { operator: 'operator', site: 'none' } },
      schema: {
        tags,
        summary: 'List the sites that the caller has a role on',
        description: 'With hostname, only sites that have this host among their addresses or allowed origins.',
        querystring: Type.Object({ hostname: Type.Optional(hostname), ...pageQuery }),
        response: { 200: Type.Object({ sites: Type.Array(siteOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const window = pageWindow(request.query);
      const { roles } = operatorOf(request);
      const hostnames = request.query.hostname === undefined ? null : hostnameSpellings(request.query.hostname);
      const rows = await listSites(request.sql, { ids: [...roles.keys()], hostnames }, window);
      const { rows: sites, next_page } = cutPage(request, request.query, rows);
      return { sites, next_page };
    },
  );

  app.get(
    '/sites/:site_id',
    {
      config: { access: { operator: 'manager', site: 'params.site_id' } },
      schema: {
        tags,
        summary: 'Get a site',
        description: 'All settings of a site, with the defaults of those that nobody has set. The ETag is its version.',
        params: siteParams,
        response: { 200: siteOutput },
      },
    },
    // Answers without a promise if the site is cached, as it usually is.
    (request, reply) => {
      const { site_id: id } = request.params;
      const cached = directory.sites.peek(id);
      if (cached !== undefined) return showSite(reply, id, cached);
      return directory.sites.get(id).then((loaded) => showSite(reply, id, loaded));
    },
  );

  app.post(
    '/sites',
    {
      config: {
        access: { operator: 'super_manager', site: 'anywhere', wholeToken: true },
        changesCaches: true,
        audit: { action: 'site.create', of: siteOutput },
      },
      schema: {
        tags,
        summary: 'Create a site; the creator becomes its super_manager',
        description: 'A new site has no queues, teams or tokens. Settings that are left out have their defaults.',
        body: siteInput,
        response: { 201: siteOutput },
      },
    },
    async (request, reply) => {
      const creator = operatorOf(request);
      const settings = siteFields.complete(request.body, null);
      const site = await inTransaction(request.sql, async (sql) => {
        // Without the lock somebody could replace the creator's assignments meanwhile and leave the site without a super_manager.
        await lockOperator(sql, creator.accountId, creator.operatorId);
        return insertSite(sql, { id: newId(), accountId: creator.accountId, settings, creator: creator.operatorId });
      });
      recordChange(request, { concerns: { any: [site.id] } });
      reply.code(201).headers({ location: `/sites/${site.id}`, etag: etag(site.version) });
      return site;
    },
  );

  app.patch(
    '/sites/:site_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'params.site_id' },
        changesCaches: true,
        audit: { action: 'site.update', of: siteOutput },
      },
      schema: {
        tags,
        summary: 'Change a site',
        description:
          'Fields that are left out keep their value. With If-Match, only if nobody else has changed the site.',
        params: siteParams,
        body: siteUpdate,
        response: { 200: siteOutput },
      },
    },
    async (request, reply) => {
      const site = await inTransaction(request.sql, async (sql) => {
        await lockAccount(sql, accountOf(request));
        const before = await findSite(sql, request.params.site_id);
        if (before === null) throw notFound('site', request.params.site_id);
        recordChange(request, { before, concerns: { any: [before.id] } });
        return changeSite(sql, before, siteFields.changes(request.body), ifMatch(request));
      });
      reply.header('etag', etag(site.version));
      return site;
    },
  );
}

function showSite(reply: FastifyReply, id: SiteId, cached: CachedSite | null): never {
  if (cached === null) throw notFound('site', id);
  reply.header('etag', etag(cached.site.version)).type(rendered);
  return cached.json as never;
}

async function changeSite(
  sql: Sql,
  current: SiteRow,
  changes: Partial<SiteSettings>,
  versions: readonly number[] | null,
): Promise<SiteRow> {
  if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
  return Object.keys(changes).length === 0 ? current : updateSite(sql, current.id, changes);
}
