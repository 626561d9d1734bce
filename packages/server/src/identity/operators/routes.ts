import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { etag, ifMatch } from '../../platform/etag.ts';
import type { App } from '../../platform/http.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf } from '../access.ts';
import { recordChange, type Audited } from '../audit/audit.ts';
import { requestedSites } from '../requested-sites.ts';
import { changeOperator, changesPresenceOnly, createOperator } from './change-operator.ts';
import { operatorInput, operatorOutput, operatorUpdate, type OperatorRow, type OperatorUpdate } from './operator.ts';
import { operatorToRead } from './permission.ts';
import { listOperators } from './store.ts';

const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const operatorQuery = Type.Object({
  site_ids: Type.Optional(list(uuid<'site'>())),
  team_ids: Type.Optional(list(uuid<'team'>())),
  include_offline: Type.Boolean({ default: false, description: 'Also those who are not available now' }),
  include_disabled: Type.Boolean({ default: false }),
  ...pageQuery,
});
const tags = ['Operators'];

/** Of presence, only that they are made available, or not. */
const told = {
  of: operatorOutput,
  omits: ['media', 'presence_reason', 'presence_set_at', 'presence_expires_at'],
} satisfies Partial<Audited>;

export function operatorRoutes(app: App): void {
  app.get(
    '/operators',
    {
      config: { access: { operator: 'manager', site: 'anywhere' } },
      schema: {
        tags,
        summary: 'Operators of the sites the caller manages',
        querystring: operatorQuery,
        response: { 200: Type.Object({ operators: Type.Array(operatorOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { query } = request;
      const rows = await listOperators(request.sql, {
        accountId: accountOf(request),
        siteIds: requestedSites(operatorOf(request), query.site_ids, 'manager'),
        teamIds: query.team_ids ?? null,
        includeOffline: query.include_offline,
        includeDisabled: query.include_disabled,
        ...pageWindow(query),
      });
      const { rows: operators, next_page } = cutPage(request, query, rows);
      return { operators, next_page };
    },
  );

  app.post(
    '/operators',
    {
      config: {
        access: { operator: 'super_manager', site: 'anywhere' },
        settles: true,
        audit: { action: 'operator.create', ...told },
      },
      schema: { tags, summary: 'Create an operator', body: operatorInput, response: { 201: operatorOutput } },
    },
    async (request, reply) => {
      const operator = await createOperator(request, request.body);
      reply.code(201).header('location', `/operators/${operator.id}`);
      return tagged(reply, operator);
    },
  );

  app.get(
    '/operators/:operator_id',
    {
      config: { access: { operator: 'manager', site: 'resource', rule: 'self or one site' } },
      schema: {
        tags,
        summary: 'One operator; anyone may read themselves',
        params: operatorParams,
        response: { 200: operatorOutput },
      },
    },
    async (request, reply) => tagged(reply, await operatorToRead(request, request.params.operator_id)),
  );

  app.patch(
    '/operators/:operator_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource', rule: 'every site, own availability' },
        settles: true,
        audit: { action: 'operator.update', ...told, unless: isOwnAvailability },
      },
      schema: {
        tags,
        summary: 'Change an operator; anyone may change their own availability',
        params: operatorParams,
        body: operatorUpdate,
        response: { 200: operatorOutput },
      },
    },
    async (request, reply) => {
      const change = { id: request.params.operator_id, given: request.body, versions: ifMatch(request) };
      return tagged(reply, await changeOperator(request, change));
    },
  );

  app.delete(
    '/operators/:operator_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource', rule: 'every site' },
        settles: true,
        audit: { action: 'operator.disable', ...told },
      },
      schema: {
        tags,
        summary: 'Disable an operator; its tokens end at once',
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

function tagged(reply: FastifyReply, operator: OperatorRow): OperatorRow {
  reply.header('etag', etag(operator.version));
  return operator;
}
