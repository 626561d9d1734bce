import Type from 'typebox';
import { engagementOutput } from '../engagements/engagement.ts';
import { fileState } from '../engagements/files/file.ts';
import { requestOutput } from '../engagements/requests/request.ts';
import { signalItem } from '../engagements/signals/signal.ts';
import { transferRequestOutput, transferTicketOutput } from '../engagements/transfers/transfer.ts';
import { traitsOf } from '../events/catalogue.ts';
import { id } from '../events/vocabulary.ts';
import { operatorOutput } from '../identity/operators/operator.ts';
import { oneOf } from '../platform/schema.ts';
import { queueOutput } from '../queues/queue.ts';
import { upgradeState } from '../routing/media-upgrade.ts';
import { ticketOutput } from '../routing/tickets/ticket.ts';

/**
 * Items of the live feed beside the events of `events/catalogue.ts`. They are sent to no webhook. An item that another room
 * writes is declared in that room and listed here. The description of `GET /feed` names all of them.
 */

const queueForVisitors = ['id', 'site_id', 'status', 'self_status', 'available_properties'] as const;
const queueForOperators = [
  ...queueForVisitors,
  'capacity',
  'staffed',
  'visitors_count',
  'average_wait_time',
  // Changes with every other field of the queue, so that a client knows when to read the queue again.
  'updated_at',
] as const;

export const feedItems = {
  'feed.open': Type.Object({ resumed: Type.Boolean() }),
  'feed.reset': Type.Object({ reason: oneOf(['unknown_id', 'moves_unknown', 'access_changed'] as const) }),
  'queue_ticket.state': ticketOutput,
  'engagement_request.state': requestOutput,
  'transfer_request.state': transferRequestOutput,
  'transfer_ticket.state': transferTicketOutput,
  'engagement.state': engagementOutput,
  'operator.state': Type.Omit(operatorOutput, ['href']),
  'queue.state': Type.Union([
    Type.Pick(queueOutput, queueForOperators),
    Type.Pick(queueOutput, queueForVisitors),
    Type.Object({ id, site_id: id, deleted: Type.Literal(true) }),
  ]),
  [upgradeState.type]: upgradeState.schema,
  [fileState.type]: fileState.schema,
  [signalItem.type]: signalItem.schema,
};

export type FeedItemType = keyof typeof feedItems;
export type FeedData<T extends FeedItemType> = Type.Static<(typeof feedItems)[T]>;

/** Transfers are between operators. */
const hiddenFromVisitors: ReadonlySet<string> = new Set<FeedItemType>([
  'transfer_request.state',
  'transfer_ticket.state',
]);

/** Whether visitors see items or events of the type. */
export function isForVisitors(type: string): boolean {
  return !hiddenFromVisitors.has(type) && traitsOf(type).hiddenFromVisitors !== true;
}
