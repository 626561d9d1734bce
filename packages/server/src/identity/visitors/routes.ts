import { maxVisitorIds } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type SiteId, type VisitorId } from '../../platform/ids.ts';
import { list, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf, permitted, siteInBody } from '../access.ts';
import { isByMadeUpOperator, recordChange, type Audited } from '../audit/audit.ts';
import { visitorTokenSeconds, type Tokens } from '../tokens.ts';
import { isFromPage, type Caller, type Trust } from '../caller.ts';
import { refuseForeignTeams } from './foreign-teams.ts';
import type { VisitorGate } from './gate.ts';
import {
  findVisitor,
  insertVisitor,
  lockVisitor,
  moveVisitor,
  recordTokenIssue,
  updateVisitor,
  visitorsById,
} from './store.ts';
import {
  mergeVisitor,
  operatorOnlyFields,
  visitorFields,
  visitorInput,
  visitorMove,
  visitorOutput,
  visitorToken,
  visitorUpdate,
  type VisitorRow,
  type VisitorUpdate,
} from './visitor.ts';

const tags = ['Visitors'];

const audited = { of: visitorOutput, ...visitorFields.audit, unless: isByMadeUpOperator } satisfies Partial<Audited>;
const visitorParams = Type.Object({ visitor_id: uuid<'visitor'>() });
const siteVisitorParams = Type.Object({ site_id: uuid<'site'>(), visitor_id: uuid<'visitor'>() });

export function visitorRoutes(app: App, tokens: Tokens, gate: VisitorGate): void {
  tokenRoutes(app, tokens, gate);

  app.get(
    '/sites/:site_id/visitors/:visitor_id',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'params.site_id' } },
      schema: {
        tags,
        summary: 'Get a visitor',
        description:
          'Operators see everything that is known about the visitor. Visitors see themselves without the note of the operators.',
        params: siteVisitorParams,
        response: { 200: visitorOutput },
      },
    },
    async (request, reply) => {
      const { site_id, visitor_id } = request.params;
      const visitor = await findVisitor(request.sql, accountOf(request), visitor_id);
      if (visitor === null || visitor.site_id !== site_id) throw notFound('visitor', visitor_id);
      refuseOtherVisitor(request, visitor_id);
      reply.header('etag', etag(visitor.version));
      return showVisitor(request, visitor);
    },
  );

  app.patch(
    '/sites/:site_id/visitors/:visitor_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'params.site_id' },
        audit: { action: 'visitor.update', ...audited },
      },
      schema: {
        tags,
        summary: 'Change a visitor',
        description: `Visitors may change themselves, except ${operatorOnlyFields.join(', ')}.`,
        params: siteVisitorParams,
        body: visitorUpdate,
        response: { 200: visitorOutput },
      },
    },
    async (request, reply) => {
      const { site_id, visitor_id } = request.params;
      refuseOtherVisitor(request, visitor_id);
      const visitor = await changeVisitor(request, site_id, visitor_id, request.body);
      reply.header('etag', etag(visitor.version));
      return showVisitor(request, visitor);
    },
  );

  ownRoutes(app);
  lookupRoute(app);
}

/** For clients that list tickets or engagements and need their visitors. */
function lookupRoute(app: App): void {
  app.get(
    '/visitors',
    {
      config: { access: { operator: 'operator', site: 'anywhere' } },
      schema: {
        tags,
        summary:
          'List visitors by id, in no particular order; visitors on sites that the caller has no role on are left out',
        description: 'For clients that have a list of tickets or engagements and need the names of their visitors.',
        querystring: Type.Object({ ids: list(uuid<'visitor'>(), { minItems: 1, maxItems: maxVisitorIds }) }),
        response: { 200: Type.Object({ visitors: Type.Array(visitorOutput) }) },
      },
    },
    async (request) => {
      const sites = [...operatorOf(request).roles.keys()];
      return { visitors: await visitorsById(request.sql, request.query.ids, sites) };
    },
  );
}

function tokenRoutes(app: App, tokens: Tokens, gate: VisitorGate): void {
  app.post(
    '/visitors',
    {
      config: {
        access: { operator: 'operator', application: 'publishable', site: 'body.site_id' },
        audit: { action: 'visitor.create', ...audited },
      },
      schema: {
        tags,
        summary: 'Create a visitor and their token',
        description: 'The body is optional. site_id is optional if the token reaches exactly one site.',
        body: visitorInput,
        response: { 200: visitorToken },
      },
    },
    async (request) => {
      const { name = null, team_ids: teamIds = [] } = request.body;
      const siteId = siteInBody(request);
      const id = newId<VisitorId>();
      const accountId = accountOf(request);
      const trust = trustOf(request.caller);
      await gate.admit(request.caller, siteId, request.ip);
      const create = async (sql: Sql): Promise<void> => {
        await refuseForeignTeams(sql, siteId, teamIds);
        await insertVisitor(sql, { id, accountId, siteId, name, teamIds, isFromPage: trust === 'publishable' });
      };
      await (teamIds.length === 0 ? create(request.sql) : inTransaction(request.sql, create));
      recordChange(request, { after: { id, site_id: siteId, name, team_ids: teamIds } });
      return {
        id,
        access_token: await tokens.signVisitor({ accountId, visitorId: id, trust }),
        expires_in: visitorTokenSeconds,
      };
    },
  );

  app.post(
    '/visitors/:visitor_id/token',
    {
      config: { access: { visitor: true, application: 'secret', site: 'resource' }, audit: 'no operator' },
      schema: {
        tags,
        summary: "Renew a visitor's token, with that token or with a secret application token of the visitor's site",
        description:
          'The new token is valid for 24 hours. Renew it before the old one expires; the old one works until then.',
        params: visitorParams,
        response: { 200: visitorToken },
      },
    },
    async (request) => {
      const { visitor_id: id } = request.params;
      refuseOtherVisitor(request, id);
      const accountId = accountOf(request);
      const visitor = await findVisitor(request.sql, accountId, id);
      const { caller } = request;
      if (visitor === null || (caller.kind === 'application' && caller.siteId !== visitor.site_id))
        throw notFound('visitor', id);
      permitted(request);
      const trust = trustOf(caller);
      await recordTokenIssue(request.sql, id, trust);
      return {
        id,
        access_token: await tokens.signVisitor({ accountId, visitorId: id, trust }),
        expires_in: visitorTokenSeconds,
      };
    },
  );
}

/** Routes that only the visitor themselves may use. */
function ownRoutes(app: App): void {
  app.get(
    '/visitor',
    {
      config: { access: { visitor: true, site: 'none' } },
      schema: {
        tags,
        summary: 'Get the visitor of the token',
        description: 'For a program that was given a token: who the visitor is, and which site they are on.',
        response: { 200: visitorOutput },
      },
    },
    async (request, reply) => {
      const { caller } = request;
      if (caller.kind !== 'visitor') throw new Error('the route is for visitors only');
      const visitor = await findVisitor(request.sql, caller.accountId, caller.visitorId);
      if (visitor === null) throw notFound('visitor', caller.visitorId);
      reply.header('etag', etag(visitor.version));
      return showVisitor(request, visitor);
    },
  );

  app.patch(
    '/visitors/:visitor_id',
    {
      config: { access: { visitor: true, site: 'resource' }, changesCaches: true, audit: 'no operator' },
      schema: {
        tags,
        summary: 'Move a visitor to another site of the account',
        description:
          'For a person who goes from one of your websites to another. The visitor leaves the teams of the former site.',
        params: visitorParams,
        body: visitorMove,
        response: { 200: visitorOutput },
      },
    },
    async (request, reply) => {
      refuseOtherVisitor(request, request.params.visitor_id);
      permitted(request);
      const visitor = await moveVisitor(
        request.sql,
        accountOf(request),
        request.params.visitor_id,
        request.body.site_id,
      );
      if (visitor === null) throw invalid([{ attribute: '/site_id', detail: 'is not a site of the account' }]);
      reply.header('etag', etag(visitor.version));
      return showVisitor(request, visitor);
    },
  );
}

/** A visitor can read and change only themselves. */
function refuseOtherVisitor({ caller }: FastifyRequest, id: VisitorId): void {
  if (caller.kind === 'visitor' && caller.visitorId !== id) throw notFound('visitor', id);
}

/** A visitor's token has the trust of the token it was obtained with. */
function trustOf(caller: Caller): Trust {
  return isFromPage(caller) ? 'publishable' : 'secret';
}

async function changeVisitor(
  request: FastifyRequest,
  siteId: SiteId,
  id: VisitorId,
  given: VisitorUpdate,
): Promise<VisitorRow> {
  refuseOperatorFields(request, given);
  if (given.site_id !== undefined && given.site_id !== siteId) {
    throw invalid([{ attribute: '/site_id', detail: 'cannot be changed by this route' }]);
  }
  const versions = ifMatch(request);
  return inTransaction(request.sql, async (sql) => {
    const current = await lockVisitor(sql, accountOf(request), id);
    if (current === null || current.site_id !== siteId) throw notFound('visitor', id);
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    recordChange(request, { before: current });
    await refuseForeignTeams(sql, siteId, given.team_ids ?? []);
    const merged = mergeVisitor(current, given);
    if ('tooLarge' in merged) throw invalid([{ attribute: `/${merged.tooLarge}`, detail: 'would become too large' }]);
    return Object.keys(merged.changes).length === 0 ? current : updateVisitor(sql, id, merged.changes);
  });
}

function refuseOperatorFields({ caller }: FastifyRequest, given: VisitorUpdate): void {
  const field = caller.kind === 'visitor' ? operatorOnlyFields.find((name) => name in given) : undefined;
  if (field !== undefined) throw new Refusal('forbidden', `Only operators may set ${field}.`);
}

/** Hides the operators' note from the visitor. */
function showVisitor({ caller }: FastifyRequest, visitor: VisitorRow): VisitorRow {
  return caller.kind === 'visitor' ? { ...visitor, note: null } : visitor;
}
