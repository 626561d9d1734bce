import Type from 'typebox';
import type { App } from '../../platform/http/http.ts';
import { nextPage } from '../../platform/http/paging.ts';
import { activeTicketsQuery, readActiveTickets } from '../../routing/tickets/active-tickets.ts';
import type { Turns } from '../../routing/turns.ts';
import { showTransferTicket, transferTicketOutput } from './transfer.ts';

/** Lists transfers that wait in queues, for the console's board: they count as waiting like visitors' own tickets. */
export function activeTransferTicketsRoute(app: App, turns: Turns): void {
  app.get(
    '/transfer_tickets',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Transfers'],
        summary: 'List waiting or offered transfers to queues of the sites, oldest first',
        description: 'Only transfers that are not settled. A completed transfer is in the list of its engagement.',
        querystring: activeTicketsQuery,
        response: { 200: Type.Object({ transfer_tickets: Type.Array(transferTicketOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { tickets, next_page } = await readActiveTickets(request, request.query, { turns, kind: 'transfer' });
      return { transfer_tickets: tickets.map(showTransferTicket), next_page };
    },
  );
}
