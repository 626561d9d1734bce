import { requestStates } from '@usher/contract/states';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookAttacher } from '../../events/subscriptions/attach-webhooks.ts';
import { accountOf, operatorOf } from '../../identity/access.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { keyedIdOf } from '../../platform/http/idempotency.ts';
import { newId, type EngagementId, type RequestId, type TicketId } from '../../platform/ids.ts';
import { cursorQuery, cutAtCursor, nextPage, readCursor } from '../../platform/http/paging.ts';
import { body, list, oneOf, uuid } from '../../platform/schema.ts';
import { findQueue } from '../../queues/store.ts';
import { notesOf } from '../../routing/notes.ts';
import { findTicket } from '../../routing/tickets/store.ts';
import { showNewTicket, showTicket, ticketEnded, type TicketRow } from '../../routing/tickets/ticket.ts';
import type { Turns } from '../../routing/turns.ts';
import type { EngagementRow } from '../engagement.ts';
import { permitParticipant, refuseNonParticipant } from '../permission.ts';
import { answerInput, answerOf, requestEnded, type RequestRow } from '../requests/request.ts';
import { findRequest, listRequests } from '../requests/store.ts';
import { whoseOf } from '../requests/whose.ts';
import { isSide, partyOf } from '../../identity/party.ts';
import { engagementEnded, permittedEngagement, tookPart } from '../permitted-engagement.ts';
import { findEngagement } from '../store.ts';
import { activeTransferTicketsRoute } from './active-route.ts';
import {
  showTransferRequest,
  showTransferTicket,
  transferRequestInput,
  transferRequestOutput,
  transferTicketInput,
  transferTicketOutput,
} from './transfer.ts';
import { completedTransferRoutes } from './completed.ts';

const tags = ['Transfers'];
const requestParams = Type.Object({ request_id: uuid<'engagement_request'>() });
const ticketParams = Type.Object({ ticket_id: uuid<'ticket'>() });
const access = { operator: 'operator', site: 'resource', rule: 'takes part' } as const;
const readAccess = { ...access, rule: 'took part or manages' } as const;

/** D5.4. */
export function transferRoutes(app: App, turns: Turns, attacher: WebhookAttacher): void {
  completedTransferRoutes(app);
  requestRoutes(app, turns, attacher);
  answerRoutes(app, turns);
  ticketRoutes(app, turns, attacher);
  activeTransferTicketsRoute(app, turns);
}

function requestRoutes(app: App, turns: Turns, attacher: WebhookAttacher): void {
  app.post(
    '/transfer_requests',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Transfer to another operator; the first operator stays until the other accepts',
        description:
          'The engagement keeps its id. It has at most one pending transfer; the next is 409 transfer_pending.',
        body: transferRequestInput,
        response: { 201: transferRequestOutput },
      },
      preHandler: async (request) => attacher.check(request.body.webhooks),
    },
    async (request, reply) => {
      const given = request.body;
      const engagement = await transferable(request, given.engagement_id);
      const keyed = keyedIdOf<RequestId>(request);
      const made = await turns
        .run(engagement.account_id, {
          name: 'transferToOperator',
          id: keyed ?? newId<RequestId>(),
          repeatable: keyed !== null,
          engagementId: engagement.id,
          by: operatorOf(request).operatorId,
          operatorId: given.operator_id,
          medium: given.media ?? null,
          notes: notesOf(
            given,
            await attacher.attach({
              accountId: engagement.account_id,
              siteId: engagement.site_id,
              side: 'operator',
              attachedBy: operatorOf(request).operatorId,
              webhooks: given.webhooks,
            }),
          ),
        })
        .catch(unlessEnded(request, engagement.id));
      const shown = showTransferRequest(made ?? (await readRequest(request, keyed)));
      reply.code(201).header('location', `/transfer_requests/${shown.id}`);
      return shown;
    },
  );

  app.get(
    '/transfer_requests',
    {
      config: { access: { operator: 'operator', site: 'none' } },
      schema: {
        tags,
        summary:
          'List transfers offered to the caller, newest first; with site_ids, all transfers of sites the caller manages',
        description: 'With state=pending, the transfers that wait for an answer now.',
        querystring: Type.Object({
          state: Type.Optional(oneOf(requestStates)),
          site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ transfer_requests: Type.Array(transferRequestOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { state = null, site_ids, cursor, per_page } = request.query;
      const found = await listRequests(request.sql, {
        accountId: accountOf(request),
        whose: whoseOf(request.caller, site_ids),
        kinds: ['transfer'],
        state,
        after: readCursor(cursor),
        limit: per_page + 1,
      });
      const { rows, next_page } = cutAtCursor(request, per_page, found, (row) => ({
        at: new Date(row.createdAt),
        id: row.id,
      }));
      return { transfer_requests: rows.map(showTransferRequest), next_page };
    },
  );
}

function answerRoutes(app: App, turns: Turns): void {
  app.get(
    '/transfer_requests/:request_id',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'One transfer request',
        description: 'Its state, and fail_reason if it failed.',
        params: requestParams,
        response: { 200: transferRequestOutput },
      },
    },
    async (request) => showTransferRequest(await permittedTransfer(request, request.params.request_id)),
  );

  app.patch(
    '/transfer_requests/:request_id',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Accept or decline, as the invited operator; or cancel, as the operator who has the engagement',
        params: requestParams,
        body: answerInput,
        response: { 200: transferRequestOutput },
      },
    },
    async (request) => {
      const { request_id: id } = request.params;
      const answered = await turns.run(accountOf(request), {
        name: 'answerTransfer',
        ...answerOf(request.params.request_id, partyOf(request.caller), request.body),
      });
      permitParticipant(request);
      if (answered !== null) return showTransferRequest(answered);
      const before = await permittedTransfer(request, id);
      if (request.body.action === 'accept' && before.state === 'accepted' && isSide(request.caller, before))
        return showTransferRequest(before);
      throw requestEnded(before);
    },
  );
}

function ticketRoutes(app: App, turns: Turns, attacher: WebhookAttacher): void {
  app.post(
    '/transfer_tickets',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Transfer to a queue; the first operator stays until another accepts',
        description:
          'The visitor waits in the queue, or in its fallback, while the conversation goes on. The engagement keeps its id.',
        body: transferTicketInput,
        response: { 201: transferTicketOutput },
      },
      preHandler: async (request) => attacher.check(request.body.webhooks),
    },
    async (request, reply) => {
      const given = request.body;
      const engagement = await transferable(request, given.engagement_id);
      const queue = await findQueue(request.sql, engagement.account_id, given.queue_id);
      if (queue === null || !operatorOf(request).roles.has(queue.site_id))
        throw invalid([{ attribute: '/queue_id', detail: 'is not a queue that this token can access' }]);
      const keyed = keyedIdOf<TicketId>(request);
      const made = await turns
        .run(engagement.account_id, {
          name: 'transferToQueue',
          id: keyed ?? newId<TicketId>(),
          repeatable: keyed !== null,
          engagementId: engagement.id,
          by: operatorOf(request).operatorId,
          queueId: queue.id,
          medium: given.media,
          factsOf: engagement.visitor_id,
          notes: notesOf(
            given,
            await attacher.attach({
              accountId: engagement.account_id,
              siteId: engagement.site_id,
              side: 'operator',
              attachedBy: operatorOf(request).operatorId,
              webhooks: given.webhooks,
            }),
          ),
        })
        .catch(unlessEnded(request, engagement.id));
      const ticket = made === null ? showTicket(await readTicket(request, keyed), null) : showNewTicket(made);
      reply.code(201).header('location', `/transfer_tickets/${ticket.id}`);
      return showTransferTicket(ticket);
    },
  );

  app.get(
    '/transfer_tickets/:ticket_id',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'One transfer ticket',
        description: 'Its state and position, as of an ordinary ticket.',
        params: ticketParams,
        response: { 200: transferTicketOutput },
      },
    },
    async (request) => {
      const row = await permittedTicket(request, request.params.ticket_id);
      const view = await turns.run(row.account_id, { name: 'viewTicket', ticketId: row.id });
      return showTransferTicket(showTicket(row, view));
    },
  );

  app.patch(
    '/transfer_tickets/:ticket_id',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Cancel a transfer, as the operator who has the engagement',
        params: ticketParams,
        body: body({ action: oneOf(['cancel'] as const) }),
        response: { 200: transferTicketOutput },
      },
    },
    async (request) => {
      const row = await permittedTicket(request, request.params.ticket_id);
      // Earlier operators of the engagement may read the ticket, but only the current one may cancel it.
      if (row.engagement_id !== null && (row.state === 'waiting' || row.state === 'offered'))
        await transferable(request, row.engagement_id);
      const order = { name: 'cancelTicket', ticketId: row.id, kind: 'transfer', by: 'operator' } as const;
      const canceled = await turns.run(row.account_id, order);
      const current = await readTicket(request, row.id);
      if (canceled === null && current.state !== 'canceled') throw ticketEnded(current);
      return showTransferTicket(showTicket(current, null));
    },
  );
}

/** Reads an engagement that the caller has now; others cannot transfer it. */
async function transferable(request: FastifyRequest, id: EngagementId): Promise<EngagementRow> {
  const engagement = await permittedEngagement(request, id);
  if (engagement.ended_at !== null || engagement.operator_id !== operatorOf(request).operatorId)
    throw engagementEnded(engagement);
  return engagement;
}

/** If the engagement ended or was transferred before the turn ran, refuses with that reason instead of `not_found`. */
function unlessEnded(request: FastifyRequest, id: EngagementId) {
  return async (error: unknown): Promise<never> => {
    if (error instanceof Refusal && error.code === 'not_found') await transferable(request, id);
    throw error;
  };
}

async function readRequest(request: FastifyRequest, id: RequestId | null): Promise<RequestRow> {
  const found = id === null ? null : await findRequest(request.sql, accountOf(request), id);
  if (found?.kind !== 'transfer') throw notFound('transfer request', id ?? '');
  return found;
}

/** Permits the invited operator, and operators who have or had the engagement. */
async function permittedTransfer(request: FastifyRequest, id: RequestId): Promise<RequestRow> {
  const found = await readRequest(request, id);
  if (!isSide(request.caller, found) && !(await hadEngagement(request, found.engagementId)))
    refuseNonParticipant(request, { noun: 'transfer request', id, siteId: found.siteId });
  permitParticipant(request);
  return found;
}

async function readTicket(request: FastifyRequest, id: TicketId | null): Promise<TicketRow> {
  const found = id === null ? null : await findTicket(request.sql, accountOf(request), 'transfer', id);
  if (found === null) throw notFound('transfer ticket', id ?? '');
  return found;
}

async function permittedTicket(request: FastifyRequest, id: TicketId): Promise<TicketRow> {
  const found = await readTicket(request, id);
  if (!(await hadEngagement(request, found.engagement_id)))
    refuseNonParticipant(request, { noun: 'transfer ticket', id, siteId: found.site_id });
  permitParticipant(request);
  return found;
}

async function hadEngagement(request: FastifyRequest, id: EngagementId | null): Promise<boolean> {
  if (id === null) return false;
  const engagement = await findEngagement(request.sql, accountOf(request), id);
  return engagement !== null && tookPart(request, engagement);
}
