import { media, type Medium } from '@usher/contract/media';
import type { TicketState } from '@usher/contract/states';
import { ticketStates } from '@usher/contract/states';
import Type from 'typebox';
import {
  newSiteVisitor,
  newVisitorViolations,
  visitorAuthentication,
} from '../../identity/visitors/new-site-visitor.ts';
import type { Violation } from '../../platform/errors.ts';
import { Refusal } from '../../platform/errors.ts';
import type { AccountId, EngagementId, QueueId, SiteId, TicketId, VisitorId } from '../../platform/ids.ts';
import { body, checked, list, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import type { TicketView } from '../board/views/views.ts';
import { noteFields } from '../notes.ts';

export const ticketInput = checked(
  body({
    site_id: uuid<'site'>(),
    media: oneOf(media),
    queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })),
    queue_id: Type.Optional(uuid<'queue'>()),
    team_ids: Type.Optional(list(uuid<'team'>(), { minItems: 1 })),
    ...noteFields,
    new_site_visitor: Type.Optional(newSiteVisitor),
  }),
  (input) => [...candidateViolations(input), ...newVisitorViolations(input)],
);

/** D3.1: at most one of `queue_ids`, `queue_id` and `team_ids`. */
function candidateViolations(input: unknown): Violation[] {
  if (typeof input !== 'object' || input === null) return [];
  const [first = '', ...others] = ['queue_ids', 'queue_id', 'team_ids'].filter((field) => field in input);
  return others.map((field) => ({ attribute: `/${field}`, detail: `cannot be combined with ${first}` }));
}

export const ticketOutput = output('QueueTicket', {
  id: uuid<'ticket'>(),
  site_id: uuid<'site'>(),
  visitor_id: uuid<'visitor'>(),
  media: oneOf(media),
  queue_ids: Type.Array(uuid<'queue'>(), {
    description: 'The queues of the ticket, or its last queues if it has ended',
  }),
  state: oneOf(ticketStates),
  position: nullable(Type.Integer({ description: '1 is next; null unless the ticket is waiting' })),
  estimated_wait_sec: nullable(Type.Integer({ description: 'null if unknown' })),
  engagement_id: nullable(uuid<'engagement'>()),
  created_at: timestamp,
  updated_at: timestamp,
});

/** The answer to the request that creates a ticket. */
export const newTicketOutput = output('NewQueueTicket', {
  ...ticketOutput.properties,
  visitor_authentication: Type.Optional(visitorAuthentication),
});

export type TicketOutput = Type.Static<typeof ticketOutput>;

export interface TicketRow {
  readonly id: TicketId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly media: Medium;
  readonly queue_ids: QueueId[];
  readonly state: TicketState;
  readonly engagement_id: EngagementId | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Only the board knows the position of a ticket, and only while the ticket is active. */
export function showTicket(row: TicketRow, view: TicketView | null): TicketOutput {
  const { account_id: _, ...shown } = row;
  return { ...shown, position: view?.position ?? null, estimated_wait_sec: seconds(view?.estimatedWaitMs ?? null) };
}

/** A ticket that was just created: the board's view has all fields. */
export function showNewTicket(view: TicketView): TicketOutput {
  const at = new Date(view.enqueuedAt);
  return {
    id: view.id,
    site_id: view.siteId,
    visitor_id: view.visitorId,
    media: view.medium,
    queue_ids: [...view.queueIds],
    state: view.state,
    position: view.position,
    estimated_wait_sec: seconds(view.estimatedWaitMs),
    engagement_id: view.engagementId,
    created_at: at,
    updated_at: at,
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 1000);
}

export function ticketEnded({ id, state }: Pick<TicketRow, 'id' | 'state'>): Refusal {
  return new Refusal('ticket_ended', `The ticket ${id} is ${state} and can no longer be canceled.`, {
    details: [{ attribute: '/state', detail: state }],
  });
}
