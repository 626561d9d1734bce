import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid } from '../../platform/errors.ts';
import { ifMatch } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { cutPage, lastPage, lastPageAddress, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf } from '../access.ts';
import { recordChange, type Audited } from '../audit/audit.ts';
import { requestedSites } from '../requested-sites.ts';
import type { SignInContext } from '../sign-in/sign-in-context.ts';
import { changeOperator, changesPresenceOnly, createOperator } from './change-operator.ts';
import { FirstPasswords } from './first-password.ts';
import { operatorFields, operatorInput, operatorOutput, operatorUpdate, type OperatorUpdate } from './operator.ts';
import { operatorToRead } from './permission.ts';
import { answerOperator, showOperator } from './show-operator.ts';
import { countOperators, listOperators } from './store.ts';

const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const operatorQuery = Type.Object({
  site_ids: Type.Optional(list(uuid<'site'>())),
  site_id: Type.Optional(Type.Unsafe<SiteId>({ ...uuid<'site'>(), description: 'Same as site_ids with one site' })),
  team_ids: Type.Optional(list(uuid<'team'>())),
  contains: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Text that the name or the e-mail address contains; upper and lower case are equal',
    }),
  ),
  include_offline: Type.Boolean({ default: true, description: 'false: only operators who are available now' }),
  include_disabled: Type.Boolean({ default: false }),
  ...pageQuery,
});
/** Existing programs send these. None of them changes which operators are listed. */
const displayParameters = ['include_support', 'include_engagements', 'view', 'order'];
const tags = ['Operators'];

const audited = { of: operatorOutput, ...operatorFields.audit } satisfies Partial<Audited>;

export function operatorRoutes(app: App, signIn: Pick<SignInContext, 'hasher' | 'attempts'>): void {
  listRoute(app);
  createRoute(app, new FirstPasswords(signIn));
  changeRoutes(app);
}

function listRoute(app: App): void {
  app.get(
    '/operators',
    {
      config: { access: { operator: 'manager', site: 'anywhere' }, ignoredParameters: displayParameters },
      schema: {
        tags,
        summary: 'List the operators of the sites that the caller manages',
        description: `Everybody who has a role on these sites, available or not; disabled operators only with include_disabled. The parameters ${displayParameters.join(', ')} are accepted and ignored, and the answer then has Preference-Applied: handling=lenient.`,
        querystring: operatorQuery,
        response: {
          200: Type.Object({ operators: Type.Array(operatorOutput), next_page: nextPage, last_page: lastPage }),
        },
      },
    },
    async (request) => {
      const { query } = request;
      const filter = {
        accountId: accountOf(request),
        siteIds: requestedSites(operatorOf(request), sitesInQuery(query), 'manager'),
        teamIds: query.team_ids ?? null,
        contains: query.contains ?? null,
        includeOffline: query.include_offline,
        includeDisabled: query.include_disabled,
      };
      const found = await listOperators(request.sql, filter, pageWindow(query));
      const { rows, next_page } = cutPage(request, query, found);
      const last_page = await lastPageAddress(request, query, {
        found: found.length,
        total: async () => countOperators(request.sql, filter),
      });
      return { operators: rows.map((operator) => showOperator(request, operator)), next_page, last_page };
    },
  );
}

function createRoute(app: App, passwords: FirstPasswords): void {
  app.post(
    '/operators',
    {
      config: {
        access: { operator: 'super_manager', site: 'anywhere' },
        changesCaches: true,
        secretBody: true,
        audit: { action: 'operator.create', ...audited },
      },
      schema: {
        tags,
        summary: 'Create an operator',
        description:
          'A password may be set, but not with a token that is limited to some sites. An invitation lets the operator choose a password that nobody else knows.',
        body: operatorInput,
        response: { 201: operatorOutput },
      },
      preHandler: async (request) => passwords.prepare(request),
    },
    async (request, reply) => {
      const operator = await createOperator(request, request.body, passwords.hashOf(request));
      reply.code(201).header('location', `/operators/${operator.id}`);
      return answerOperator(request, reply, operator);
    },
  );
}

/** Routes about one existing operator. */
function changeRoutes(app: App): void {
  app.get(
    '/operators/:operator_id',
    {
      config: { access: { operator: 'manager', site: 'resource', rule: 'self or one site' } },
      schema: {
        tags,
        summary: 'Get an operator; operators may read themselves',
        description: 'With the sites and teams that the operator is assigned to, and whether they are available now.',
        params: operatorParams,
        response: { 200: operatorOutput },
      },
    },
    async (request, reply) => answerOperator(request, reply, await operatorToRead(request, request.params.operator_id)),
  );

  app.patch(
    '/operators/:operator_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource', rule: 'every site, own availability' },
        changesCaches: true,
        audit: { action: 'operator.update', ...audited, unless: isOwnAvailability },
      },
      schema: {
        tags,
        summary: 'Change an operator; operators may change their own availability',
        params: operatorParams,
        body: operatorUpdate,
        response: { 200: operatorOutput },
      },
    },
    async (request, reply) => {
      const change = { id: request.params.operator_id, given: request.body, versions: ifMatch(request) };
      return answerOperator(request, reply, await changeOperator(request, change));
    },
  );

  app.delete(
    '/operators/:operator_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource', rule: 'every site' },
        changesCaches: true,
        audit: { action: 'operator.disable', ...audited },
      },
      schema: {
        tags,
        summary: 'Disable an operator; their tokens stop working at once',
        description:
          'Nothing is deleted: conversations keep their operator, and a super_manager can enable the operator again.',
        params: operatorParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id: id } = request.params;
      const after = await changeOperator(request, { id, given: { enabled: false }, versions: ifMatch(request) });
      recordChange(request, { after });
      reply.code(204);
    },
  );
}

function isOwnAvailability({ caller, params, body }: FastifyRequest): boolean {
  const { operator_id: id } = params as Type.Static<typeof operatorParams>;
  if (caller.kind !== 'operator' || caller.operatorId !== id) return false;
  return changesPresenceOnly(body as OperatorUpdate);
}

/** Both parameters may be given if `site_ids` contains `site_id`; the list is then limited to `site_id`. */
function sitesInQuery({ site_id: one, site_ids: several }: Type.Static<typeof operatorQuery>): SiteId[] | undefined {
  if (one === undefined) return several;
  if (several === undefined || several.includes(one)) return [one];
  throw invalid([{ attribute: '/site_id', detail: 'must be one of site_ids if both are given' }]);
}
