import { requestStates } from '@usher/contract/states';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookAttacher } from '../../events/subscriptions/attach-webhooks.ts';
import { accountOf } from '../../identity/access.ts';
import type { AddressOf } from '../../identity/address-of.ts';
import type { Tokens } from '../../identity/tokens.ts';
import {
  answerNewVisitor,
  auditOfNewVisitor,
  newVisitorOf,
  siteOfNewVisitor,
} from '../../identity/visitors/new-site-visitor.ts';
import type { NewVisitor } from '../../identity/visitors/store.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { keyedIdOf } from '../../platform/http/idempotency.ts';
import { newId, type OperatorId, type RequestId, type VisitorId } from '../../platform/ids.ts';
import { cursorQuery, cutAtCursor, nextPage, readCursor } from '../../platform/http/paging.ts';
import { list, oneOf, uuid } from '../../platform/schema.ts';
import type { RequestView } from '../../routing/board/views/views.ts';
import { notesOf } from '../../routing/notes.ts';
import type { Turns } from '../../routing/turns.ts';
import { isSide, partyOf } from '../../identity/party.ts';
import { permitParticipant, refuseNonParticipant } from '../permission.ts';
import {
  answerInput,
  answerOf,
  newRequestOutput,
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

interface RequestRouteDependencies {
  readonly turns: Turns;
  readonly attacher: WebhookAttacher;
  readonly addressOf: AddressOf;
  readonly tokens: Tokens;
}

export function requestRoutes(app: App, dependencies: RequestRouteDependencies): void {
  const { turns, attacher } = dependencies;
  app.post(
    '/engagement_requests',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'body.site_id' }, audit: auditOfNewVisitor },
      schema: {
        tags,
        summary: 'Request an engagement: a visitor names an operator, an operator a visitor',
        description:
          "The invited side accepts or declines within timeout seconds. The caller's own side comes from the token. A program with an operator's token may send new_site_visitor instead of visitor_id: the visitor is created together with the request, is the side that asks, and the answer has visitor_authentication, the headers with which the program acts for the visitor.",
        body: requestInput,
        response: { 201: newRequestOutput },
      },
      preValidation: siteOfNewVisitor,
      preHandler: async ({ caller, ip: address, body: { site_id: siteId, webhooks } }) =>
        attacher.checkFromCaller({ caller, siteId, address, webhooks }),
    },
    async (request, reply) => {
      const { site_id: siteId, new_site_visitor: given } = request.body;
      const newVisitor = await newVisitorOf(request, siteId, given);
      const made = showRequest(await ask(request, dependencies, request.body, newVisitor));
      reply.code(201).header('location', `/engagement_requests/${made.id}`);
      if (newVisitor === null) return made;
      return { ...made, ...(await answerNewVisitor(request, dependencies.tokens, newVisitor, made.visitor_id)) };
    },
  );

  app.get(
    '/engagement_requests/:request_id',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'resource', rule: 'took part or manages' } },
      schema: {
        tags,
        summary: 'One request',
        description: 'Its state, and the id of the engagement if it was accepted, or fail_reason if it failed.',
        params: requestParams,
        response: { 200: requestOutput },
      },
    },
    async (request) => showRequest(await permittedRequest(request, request.params.request_id)),
  );

  app.patch(
    '/engagement_requests/:request_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        audit: 'own work',
        // The turn sends the hint.
        sendsOwnHint: true,
      },
      schema: {
        tags,
        summary: 'Accept or decline, as the invited side; or cancel, as the requesting side',
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
        summary: "List the caller's requests, newest first; with site_ids, all requests of sites the caller manages",
        description: 'With state=pending, the requests that wait for an answer now.',
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

/** Operators poll their pending requests all day, so these are read from the board and not from the database. */
async function pendingOf(request: FastifyRequest, turns: Turns): Promise<RequestView[]> {
  const { kind, id } = partyOf(request.caller);
  const order = kind === 'operator' ? { operatorId: id } : { visitorId: id };
  const requests = await turns.run(accountOf(request), { name: 'viewRequests', ...order });
  return (requests ?? [])
    .filter((each) => each.kind !== 'transfer' && isSide(request.caller, each))
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

/** The caller's own side comes from the token; a field that contradicts the token is ignored. A new visitor is the side that asks. */
async function ask(
  request: FastifyRequest,
  { turns, attacher, addressOf }: RequestRouteDependencies,
  given: Type.Static<typeof requestInput>,
  newVisitor: NewVisitor | null,
): Promise<RequestView> {
  const { caller } = request;
  const { kind, id } = newVisitor === null ? partyOf(caller) : ({ kind: 'visitor', id: newVisitor.id } as const);
  const { operatorId, visitorId } = sidesOf(
    kind === 'operator' ? { ...given, operator_id: id } : { ...given, visitor_id: id },
  );
  const keyed = keyedIdOf<RequestId>(request);
  const accountId = accountOf(request);
  const webhooks = await attacher.attach({
    accountId,
    siteId: given.site_id,
    side: kind,
    attachedBy: caller.kind === 'operator' ? caller.operatorId : null,
    webhooks: given.webhooks,
  });
  const made = await turns.run(accountId, {
    name: 'requestDirectly',
    id: keyed ?? newId<RequestId>(),
    repeatable: keyed !== null,
    origin: kind,
    siteId: given.site_id,
    visitorId,
    newVisitor,
    operatorId,
    medium: given.media,
    notes: notesOf(given, webhooks),
    address: addressOf(request),
  });
  if (made !== null) return made;
  const before = keyed === null ? null : await findRequest(request.sql, accountOf(request), keyed);
  if (before === null) throw new Error('the request was neither created now nor before');
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

/** For a request that is not pending, or not the caller's to answer. Accepting an accepted request again succeeds. */
async function answeredBefore(request: FastifyRequest, id: RequestId, { action }: AnswerInput): Promise<RequestRow> {
  const found = await permittedRequest(request, id);
  const wasInvited = partyOf(request.caller).kind !== found.origin;
  if (action === 'accept' && found.state === 'accepted' && wasInvited) return found;
  throw requestEnded(found);
}

/** A request of the caller; for reading, also one on a site the caller manages. */
async function permittedRequest(request: FastifyRequest, id: RequestId): Promise<RequestRow> {
  const found = await findRequest(request.sql, accountOf(request), id);
  if (found === null || found.kind === 'transfer') throw notFound('engagement request', id);
  if (!isSide(request.caller, found))
    refuseNonParticipant(request, { noun: 'engagement request', id, siteId: found.siteId });
  permitParticipant(request);
  return found;
}
