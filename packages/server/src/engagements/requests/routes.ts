import { requestStates } from '@usher/contract/states';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookAttacher } from '../../events/attach-webhooks.ts';
import { accountOf } from '../../identity/access.ts';
import type { AddressOf } from '../../identity/address-of.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId, type OperatorId, type RequestId, type VisitorId } from '../../platform/ids.ts';
import { cursorQuery, cutAtCursor, nextPage, readCursor } from '../../platform/paging.ts';
import { list, oneOf, uuid } from '../../platform/schema.ts';
import type { RequestView } from '../../routing/board/views/views.ts';
import { notesOf } from '../../routing/notes.ts';
import type { Turns } from '../../routing/turns.ts';
import { isSide, partyOf } from '../party.ts';
import { permitParticipant, refuseStranger } from '../permission.ts';
import {
  answerInput,
  answerOf,
  requestEnded,
  requestInput,
  requestOutput,
  showRequest,
  type AnswerInput,
  type RequestRow,
} from './request.ts';
import { findRequest, listRequests } from './store.ts';
import { whoseOf } from './whose.ts';

const tags = ['Engagement requests'];
const requestParams = Type.Object({ request_id: uuid<'engagement_request'>() });

interface RequestRouteParts {
  readonly turns: Turns;
  readonly attacher: WebhookAttacher;
  readonly addressOf: AddressOf;
}

export function requestRoutes(app: App, parts: RequestRouteParts): void {
  const { turns, attacher } = parts;
  app.post(
    '/engagement_requests',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'body.site_id' }, audit: 'own work' },
      schema: {
        tags,
        summary: 'Ask an operator, as a visitor; or a visitor, as an operator',
        body: requestInput,
        response: { 201: requestOutput },
      },
      preHandler: async ({ caller, ip: address, body: { site_id: siteId, webhooks } }) =>
        attacher.checkFromCaller({ caller, siteId, address, webhooks }),
    },
    async (request, reply) => {
      const made = showRequest(await ask(request, parts, request.body));
      reply.code(201).header('location', `/engagement_requests/${made.id}`);
      return made;
    },
  );

  app.get(
    '/engagement_requests/:request_id',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'resource', rule: 'took part or manages' } },
      schema: { tags, summary: 'One request', params: requestParams, response: { 200: requestOutput } },
    },
    async (request) => showRequest(await permittedRequest(request, request.params.request_id)),
  );

  app.patch(
    '/engagement_requests/:request_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        audit: 'own work',
      },
      schema: {
        tags,
        summary: 'Accept or decline, as the side that was asked; or cancel, as the side that asked',
        params: requestParams,
        body: answerInput,
        response: { 200: requestOutput },
      },
    },
    async (request) => {
      const answered = await turns.run(accountOf(request), {
        name: 'answer',
        ...answerOf(request.params.request_id, partyOf(request.caller), request.body),
      });
      permitParticipant(request);
      return showRequest(answered ?? (await answeredBefore(request, request.params.request_id, request.body)));
    },
  );

  listRoute(app, turns);
}

function listRoute(app: App, turns: Turns): void {
  app.get(
    '/engagement_requests',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'none' } },
      schema: {
        tags,
        summary: "The caller's requests, newest first; with site_ids all of sites the caller manages",
        querystring: Type.Object({
          state: Type.Optional(oneOf(requestStates)),
          site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ engagement_requests: Type.Array(requestOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { state = null, site_ids, cursor, per_page } = request.query;
      if (state === 'pending' && site_ids === undefined && cursor === undefined) {
        const pending = await pendingOf(request, turns);
        if (pending.length <= per_page) return { engagement_requests: pending.map(showRequest), next_page: null };
      }
      const found = await listRequests(request.sql, {
        accountId: accountOf(request),
        whose: whoseOf(request.caller, site_ids),
        kinds: ['ticket', 'direct'],
        state,
        after: readCursor(cursor),
        limit: per_page + 1,
      });
      const { rows, next_page } = cutAtCursor(request, per_page, found, (row) => ({
        at: new Date(row.createdAt),
        id: row.id,
      }));
      return { engagement_requests: rows.map(showRequest), next_page };
    },
  );
}

/** What operators ask for all day is on the board. */
async function pendingOf(request: FastifyRequest, turns: Turns): Promise<RequestView[]> {
  const { kind, id } = partyOf(request.caller);
  const order = kind === 'operator' ? { operatorId: id } : { visitorId: id };
  const requests = await turns.run(accountOf(request), { name: 'viewRequests', ...order });
  return (requests ?? [])
    .filter((each) => each.kind !== 'transfer' && isSide(request.caller, each))
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

/** The caller's own side comes from its token; a field that contradicts it is ignored. */
async function ask(
  request: FastifyRequest,
  { turns, attacher, addressOf }: RequestRouteParts,
  given: Type.Static<typeof requestInput>,
): Promise<RequestView> {
  const { kind, id } = partyOf(request.caller);
  const { operatorId, visitorId } = sidesOf(
    kind === 'operator' ? { ...given, operator_id: id } : { ...given, visitor_id: id },
  );
  const keyed = request.keyedId as RequestId | null;
  const accountId = accountOf(request);
  const webhooks = await attacher.attach({
    accountId,
    siteId: given.site_id,
    side: kind,
    attachedBy: kind === 'operator' ? operatorId : null,
    webhooks: given.webhooks,
  });
  const made = await turns.run(accountId, {
    name: 'requestDirectly',
    id: keyed ?? newId<RequestId>(),
    repeatable: keyed !== null,
    origin: kind,
    siteId: given.site_id,
    visitorId,
    operatorId,
    medium: given.media,
    notes: notesOf(given, webhooks),
    address: addressOf(request),
  });
  if (made !== null) return made;
  const before = keyed === null ? null : await findRequest(request.sql, accountOf(request), keyed);
  if (before === null) throw new Error('a request was neither made nor had been');
  return before;
}

function sidesOf(given: { operator_id?: OperatorId; visitor_id?: VisitorId }): {
  operatorId: OperatorId;
  visitorId: VisitorId;
} {
  const { operator_id: operatorId, visitor_id: visitorId } = given;
  if (operatorId === undefined) throw invalid([{ attribute: '/operator_id', detail: 'is required' }]);
  if (visitorId === undefined) throw invalid([{ attribute: '/visitor_id', detail: 'is required' }]);
  return { operatorId, visitorId };
}

/** It is not pending, or not the caller's to answer. Having accepted it before is as good as accepting it. */
async function answeredBefore(request: FastifyRequest, id: RequestId, { action }: AnswerInput): Promise<RequestRow> {
  const found = await permittedRequest(request, id);
  const asked = partyOf(request.caller).kind !== found.origin;
  if (action === 'accept' && found.state === 'accepted' && asked) return found;
  throw requestEnded(found);
}

/** The caller's own; or, to be read, one on a site the caller manages. */
async function permittedRequest(request: FastifyRequest, id: RequestId): Promise<RequestRow> {
  const found = await findRequest(request.sql, accountOf(request), id);
  if (found === null || found.kind === 'transfer') throw notFound('engagement request', id);
  if (!isSide(request.caller, found)) refuseStranger(request, { noun: 'engagement request', id, siteId: found.siteId });
  permitParticipant(request);
  return found;
}
