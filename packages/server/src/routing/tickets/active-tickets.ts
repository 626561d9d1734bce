import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { cursorQuery, pageAfter, readSequenceCursor } from '../../platform/http/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import type { Ticket } from '../board/structures/state.ts';
import type { Turns } from '../turns.ts';
import { activeTickets } from './store.ts';
import { showTicket, type TicketOutput } from './ticket.ts';

export const activeTicketsQuery = Type.Object({ site_ids: list(uuid<'site'>(), { minItems: 1 }), ...cursorQuery });

interface TicketSource {
  readonly turns: Turns;
  readonly kind: Ticket['kind'];
}

/** A page of the active tickets of a kind, in the order of enqueueing. */
export async function readActiveTickets(
  request: FastifyRequest,
  { site_ids: siteIds, per_page: perPage, cursor }: Type.Static<typeof activeTicketsQuery>,
  { turns, kind }: TicketSource,
): Promise<{ readonly tickets: TicketOutput[]; readonly next_page: string | null }> {
  const accountId = accountOf(request);
  const after = readSequenceCursor(cursor);
  const found = await activeTickets(request.sql, { accountId, kind, siteIds, after, limit: perPage + 1 });
  const page = found.slice(0, perPage);
  const last = page.at(-1);
  const ticketIds = page.map(({ id }) => id);
  const views = ticketIds.length === 0 ? [] : await turns.run(accountId, { name: 'viewTickets', ticketIds });
  const viewOf = new Map(views.map((view) => [view.id, view]));
  return {
    tickets: page.map(({ seq: _seq, ...row }) => {
      const view = viewOf.get(row.id);
      // The ticket may have changed since the row was read, so the board's state counts.
      return view === undefined
        ? showTicket(row, null)
        : showTicket({ ...row, state: view.state, queue_ids: [...view.queueIds] }, view);
    }),
    next_page: found.length > perPage && last !== undefined ? pageAfter(request, last) : null,
  };
}
