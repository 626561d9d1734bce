import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookAttacher } from '../../events/subscriptions/attach-webhooks.ts';
import { accountOf, permit, permitted } from '../../identity/access.ts';
import type { AddressOf } from '../../identity/address-of.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { teamsOnSite } from '../../identity/teams/store.ts';
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
import { newId, type TicketId, type VisitorId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { body, oneOf, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../../queues/permitted-queue.ts';
import { notesOf } from '../notes.ts';
import type { Turns } from '../turns.ts';
import { activeTicketsRoute } from './active-route.ts';
import { findTicket, ticketsInQueue } from './store.ts';
import {
  newTicketOutput,
  showNewTicket,
  showTicket,
  ticketEnded,
  ticketInput,
  ticketOutput,
  type TicketOutput,
  type TicketRow,
} from './ticket.ts';

const tags = ['Queue tickets'];
const ticketParams = Type.Object({ ticket_id: uuid<'ticket'>() });

interface TicketDependencies {
  readonly turns: Turns;
  readonly attacher: WebhookAttacher;
  readonly addressOf: AddressOf;
  readonly tokens: Tokens;
}

export function ticketRoutes(app: App, dependencies: TicketDependencies): void {
  const { turns, attacher } = dependencies;
  app.post(
    '/queue_tickets',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'body.site_id' },
        audit: auditOfNewVisitor,
        // The turn sends the hint.
        sendsOwnHint: true,
      },
      schema: {
        tags,
        summary: 'Enqueue: wait for an operator',
        description:
          'Without queue_ids, queue_id or team_ids every queue of the site is a candidate. team_ids limits the ticket to operators of these teams. A repeated request with the same criteria returns the active ticket with 200. ' +
          "A program with an operator's token sends new_site_visitor, which may also name the site: the visitor is created together with the ticket, and the answer has visitor_authentication, the headers with which the program acts for the visitor.",
        body: ticketInput,
        response: { 200: newTicketOutput, 201: newTicketOutput },
      },
      preValidation: siteOfNewVisitor,
      preHandler: async ({ caller, ip: address, body: { site_id: siteId, webhooks } }) =>
        attacher.checkFromCaller({ caller, siteId, address, webhooks }),
    },
    async (request, reply) => {
      const { ticket, created } = await enqueue(request, dependencies, request.body);
      reply.code(created ? 201 : 200).header('location', `/queue_tickets/${ticket.id}`);
      return ticket;
    },
  );

  app.get(
    '/queue_tickets/:ticket_id',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'resource' } },
      schema: {
        tags,
        summary: 'One ticket',
        description:
          'While it waits, it has its position and estimated wait; after the match, the id of its engagement.',
        params: ticketParams,
        response: { 200: ticketOutput },
      },
    },
    async (request) => {
      const row = await permittedTicket(request, request.params.ticket_id);
      return withPosition(turns, row);
    },
  );

  app.patch(
    '/queue_tickets/:ticket_id',
    {
      config: {
        access: { operator: 'manager', visitor: true, site: 'resource' },
        audit: { action: 'queue_ticket.cancel', of: Type.Pick(ticketOutput, ['state']), byTurn: true },
      },
      schema: {
        tags,
        summary: 'Cancel a ticket',
        params: ticketParams,
        body: body({ action: oneOf(['cancel'] as const) }),
        response: { 200: ticketOutput },
      },
    },
    async (request) => {
      const row = await permittedTicket(request, request.params.ticket_id);
      const by = request.caller.kind === 'visitor' ? 'visitor' : 'operator';
      const canceled = await turns.run(row.account_id, { name: 'cancelTicket', ticketId: row.id, kind: 'visitor', by });
      const current = await readTicket(request, row.id);
      if (canceled === null && current.state !== 'canceled') throw ticketEnded(current);
      if (canceled !== null) recordChange(request, { before: row });
      return showTicket(current, null);
    },
  );

  queueTicketsRoute(app);
  activeTicketsRoute(app, turns);
}

function queueTicketsRoute(app: App): void {
  app.get(
    '/queues/:queue_id/tickets',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'Active tickets in a queue, in order',
        description: 'A ticket that waits in several queues is in the list of each of them.',
        params: queueParams,
        querystring: Type.Object(pageQuery),
        response: { 200: Type.Object({ queue_tickets: Type.Array(ticketOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      const window = pageWindow(request.query);
      const found = await ticketsInQueue(request.sql, { accountId: queue.account_id, queueId: queue.id, ...window });
      const { rows, next_page } = cutPage(request, request.query, found);
      return {
        queue_tickets: rows.map(({ position, ...row }) => ({ ...showTicket(row, null), position })),
        next_page,
      };
    },
  );
}

async function enqueue(
  request: FastifyRequest,
  dependencies: TicketDependencies,
  given: Type.Static<typeof ticketInput>,
): Promise<{ ticket: TicketOutput; created: boolean }> {
  await requireTeams(request, given);
  const newVisitor = await newVisitorOf(request, given.site_id, given.new_site_visitor);
  const enqueued = await enqueueVisitor(request, dependencies, given, newVisitor);
  if (newVisitor === null) return enqueued;
  const { ticket } = enqueued;
  return {
    ...enqueued,
    ticket: { ...ticket, ...(await answerNewVisitor(request, dependencies.tokens, newVisitor, ticket.visitor_id)) },
  };
}

async function enqueueVisitor(
  request: FastifyRequest,
  { turns, attacher, addressOf }: TicketDependencies,
  given: Type.Static<typeof ticketInput>,
  newVisitor: NewVisitor | null,
): Promise<{ ticket: TicketOutput; created: boolean }> {
  const keyed = keyedIdOf<TicketId>(request);
  const { queue_id, queue_ids = queue_id === undefined ? null : [queue_id] } = given;
  const webhooks = await attacher.attach({
    accountId: accountOf(request),
    siteId: given.site_id,
    side: 'visitor',
    attachedBy: request.caller.kind === 'operator' ? request.caller.operatorId : null,
    webhooks: given.webhooks,
  });
  const answer = await turns.run(accountOf(request), {
    name: 'enqueue',
    id: keyed ?? newId<TicketId>(),
    repeatable: keyed !== null,
    siteId: given.site_id,
    visitorId: newVisitor?.id ?? visitorOf(request),
    newVisitor,
    medium: given.media,
    queueIds: queue_ids === null ? null : [...new Set(queue_ids)],
    requiredTeams: [...new Set(given.team_ids)],
    notes: notesOf(given, webhooks),
    address: addressOf(request),
  });
  // The ticket was created by an earlier request with the same key, whose answer was lost.
  if (answer === null && keyed !== null)
    return { ticket: await withPosition(turns, await readTicket(request, keyed)), created: true };
  if (answer === null) throw new Error('a ticket with a new id exists already');
  if (answer.created) return { ticket: showNewTicket(answer.ticket), created: true };
  return { ticket: showTicket(await readTicket(request, answer.ticket.id), answer.ticket), created: false };
}

/** Refuses teams that are not on the site: nobody could serve such a ticket. */
async function requireTeams(
  request: FastifyRequest,
  { site_id, team_ids = [] }: Type.Static<typeof ticketInput>,
): Promise<void> {
  if (team_ids.length === 0) return;
  const known = await teamsOnSite(request.sql, site_id, team_ids);
  const unknown = team_ids.flatMap((team, index) => (known.has(team) ? [] : [index]));
  if (unknown.length > 0)
    throw invalid(unknown.map((index) => ({ attribute: `/team_ids/${index}`, detail: 'is not a team of the site' })));
}

function visitorOf({ caller }: FastifyRequest): VisitorId {
  if (caller.kind === 'visitor') return caller.visitorId;
  throw invalid([{ attribute: '/new_site_visitor', detail: 'is required with the token of an operator' }]);
}

/** The visitor's own ticket, or a ticket on a site where the operator has the required role. */
async function permittedTicket(request: FastifyRequest, id: TicketId): Promise<TicketRow> {
  const row = await readTicket(request, id);
  const { caller } = request;
  if (caller.kind !== 'visitor') permit(request, row, 'ticket');
  else {
    if (caller.visitorId !== row.visitor_id) throw notFound('ticket', id);
    permitted(request);
  }
  return row;
}

async function readTicket(request: FastifyRequest, id: TicketId): Promise<TicketRow> {
  const row = await findTicket(request.sql, accountOf(request), 'visitor', id);
  if (row === null) throw notFound('ticket', id);
  return row;
}

/** Adds the position from the board. The ticket may have changed since the row was read, so the board's state counts. */
async function withPosition(turns: Turns, row: TicketRow): Promise<TicketOutput> {
  if (row.state !== 'waiting' && row.state !== 'offered') return showTicket(row, null);
  const view = await turns.run(row.account_id, { name: 'viewTicket', ticketId: row.id });
  if (view === null) return showTicket(row, null);
  return showTicket({ ...row, state: view.state, queue_ids: [...view.queueIds] }, view);
}
