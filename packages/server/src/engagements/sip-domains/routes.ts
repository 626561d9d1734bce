import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { appendEvent } from '../../events/append.ts';
import { accountOf, operatorOf, permit } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import { inTransaction, violatedConstraint } from '../../platform/database/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type SiteId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { sipDomainInput, sipDomainOutput, type SipDomainId, type SipDomainRow } from './sip-domain.ts';
import { deleteSipDomain, findSipDomain, insertSipDomain, listSipDomains } from './store.ts';

const maxDomains = 100;
const tags = ['SIP domains'];
const domainParams = Type.Object({ sip_domain_id: uuid<'sip_domain'>() });

export function sipDomainRoutes(app: App): void {
  app.get(
    '/sip_domains',
    {
      config: { access: { operator: 'super_manager', site: 'anywhere' } },
      schema: {
        tags,
        summary: 'SIP domains of the sites',
        description: 'The domains that telephone systems of these sites use.',
        querystring: Type.Object({ site_ids: Type.Optional(list(uuid<'site'>())), ...pageQuery }),
        response: { 200: Type.Object({ sip_domains: Type.Array(sipDomainOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const siteIds = requestedSites(operatorOf(request), request.query.site_ids, 'super_manager');
      const found = await listSipDomains(request.sql, siteIds, pageWindow(request.query));
      const { rows, next_page } = cutPage(request, request.query, found);
      return { sip_domains: rows, next_page };
    },
  );

  app.post(
    '/sip_domains',
    {
      config: {
        access: { operator: 'super_manager', site: 'body.site_id' },
        audit: { action: 'sip_domain.create', of: sipDomainOutput },
      },
      schema: {
        tags,
        summary: 'Add a SIP domain to a site',
        description: 'A domain can belong to one site only, across all accounts.',
        body: sipDomainInput,
        response: { 201: sipDomainOutput },
      },
    },
    async (request, reply) => {
      const row = await addDomain(request, request.body.site_id, request.body.domain);
      recordChange(request, { target: { id: row.id, name: row.domain } });
      reply.code(201).header('location', `/sip_domains/${row.id}`);
      return row;
    },
  );

  app.get(
    '/sip_domains/:sip_domain_id',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'One SIP domain',
        description: 'The domain and the site that it belongs to.',
        params: domainParams,
        response: { 200: sipDomainOutput },
      },
    },
    async (request) => permittedDomain(request, request.params.sip_domain_id),
  );

  app.delete(
    '/sip_domains/:sip_domain_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'sip_domain.delete', of: sipDomainOutput },
      },
      schema: {
        tags,
        summary: 'Delete a SIP domain',
        description: 'Sends the event sip_domain.delete. The domain can be added again afterwards.',
        params: domainParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const before = await permittedDomain(request, request.params.sip_domain_id);
      const { id, account_id: accountId, site_id: siteId } = before;
      recordChange(request, { before, target: { id, name: before.domain } });
      await inTransaction(request.sql, async (sql) => {
        if (!(await deleteSipDomain(sql, id))) throw notFound('SIP domain', id);
        await appendEvent(sql, {
          accountId,
          type: 'sip_domain.delete',
          about: { siteId },
          fields: { sip_domain: { id } },
        });
      });
      reply.code(204);
    },
  );
}

async function permittedDomain(request: FastifyRequest, id: SipDomainId): Promise<SipDomainRow> {
  const found = await findSipDomain(request.sql, accountOf(request), id);
  if (found === null) throw notFound('SIP domain', id);
  permit(request, found, 'SIP domain');
  return found;
}

async function addDomain(request: FastifyRequest, siteId: SiteId, domain: string): Promise<SipDomainRow> {
  try {
    const values = { id: newId<SipDomainId>(), account_id: accountOf(request), site_id: siteId, domain };
    const row = await insertSipDomain(request.sql, values, maxDomains);
    if (row === null)
      throw new Refusal('too_many', `A site can have at most ${maxDomains} SIP domains. Delete one first.`);
    return row;
  } catch (error) {
    if (violatedConstraint(error) !== 'sip_domains_domain') throw error;
    throw new Refusal('domain_taken', `The SIP domain ${domain} already belongs to a site.`);
  }
}
