import Type from 'typebox';
import type { App } from '../../platform/http/http.ts';
import { nextPage } from '../../platform/http/paging.ts';
import type { Turns } from '../turns.ts';
import { activeTicketsQuery, readActiveTickets } from './active-tickets.ts';
import { ticketOutput } from './ticket.ts';

/** Lists all active tickets of the sites, so that a client with hundreds of queues needs one request. */
export function activeTicketsRoute(app: App, turns: Turns): void {
  app.get(
    '/queue_tickets',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Queue tickets'],
        summary: 'Active tickets of the sites, in the order of enqueueing',
        description: 'Tickets that wait or are offered to an operator now. Ended tickets are read one by one.',
        querystring: activeTicketsQuery,
        response: { 200: Type.Object({ queue_tickets: Type.Array(ticketOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { tickets, next_page } = await readActiveTickets(request, request.query, { turns, kind: 'visitor' });
      return { queue_tickets: tickets, next_page };
    },
  );
}
