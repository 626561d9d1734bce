import type { NewEvent, SubjectEvent } from '../../events/append.ts';
import type { OnDemandType } from '../../events/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { Changes } from '../board/structures/changes.ts';
import type { Ticket } from '../board/structures/state.ts';

/**
 * The events of the tickets that a turn has changed: those of the subscribed `types`. They are derived from the changes, so that the
 * board makes nothing for accounts without a subscriber. Of each ticket `ticket.created` is first and `ticket.ended` is last.
 *
 * A turn is one transaction, so the events show a ticket as it is at the end of the turn: nobody has seen it in another state.
 */
export function ticketEvents(changes: Changes, types: readonly OnDemandType[]): readonly SubjectEvent[] {
  const events: SubjectEvent[] = [];
  if (types.includes('ticket.created'))
    for (const ticket of changes.tickets)
      if (ticket.createdIn === changes)
        events.push(eventOf(ticket, { type: 'ticket.created', fields: { ticket: shown(ticket) } }));
  if (types.includes('ticket.offered')) events.push(...offers(changes));
  if (types.includes('ticket.ended'))
    for (const ticket of changes.tickets) {
      const { state } = ticket;
      if (state === 'waiting' || state === 'offered') continue;
      const ended = { ...shown(ticket), state, queue_id: ticket.matchedBy };
      events.push(eventOf(ticket, { type: 'ticket.ended', fields: { ticket: ended } }));
    }
  return events;
}

/** Every offer is a request. One that failed in the same turn was an offer too. */
function offers(changes: Changes): SubjectEvent[] {
  const events: SubjectEvent[] = [];
  for (const request of changes.requests) {
    const { id, ticket, queue, operator, createdIn } = request;
    if (ticket === null || queue === null || createdIn !== changes) continue;
    const offered = {
      ...shown(ticket),
      engagement_request_id: id,
      queue_id: queue.settings.id,
      operator_id: operator.settings.id,
    };
    events.push(eventOf(ticket, { type: 'ticket.offered', fields: { ticket: offered } }));
  }
  return events;
}

function shown(ticket: Ticket) {
  return {
    id: ticket.id,
    kind: ticket.kind,
    site_id: ticket.siteId,
    visitor_id: ticket.visitor.id,
    media: ticket.medium,
    queue_ids: ticket.entries.map(({ queue }) => queue.settings.id),
    engagement_id: ticket.engagementId ?? ticket.engagement?.id ?? null,
    enqueued_at: new Date(ticket.enqueuedAt).toISOString(),
  };
}

type TypedFields = Pick<NewEvent<OnDemandType>, 'type' | 'fields'>;

/** Not of the engagement: its events are ordered among themselves, and those of the ticket began before it. */
function eventOf({ id, siteId, visitor }: Ticket, typed: TypedFields): SubjectEvent {
  const about = { siteId, ticketId: id, visitorId: visitor.id };
  return { ...typed, id: newId<string>(), about, subject: id, siteIds: [siteId] };
}
