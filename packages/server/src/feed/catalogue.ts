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
 * What the live feed shows beside the events of `events/catalogue.ts`. No webhook is sent it. An item is declared here, or, where
 * another room writes it, in that room. `GET /feed` describes them in words.
 */

const queueForVisitors = ['id', 'site_id', 'status', 'self_status', 'available_properties'] as const;
const queueForOperators = [
  ...queueForVisitors,
  'capacity',
  'staffed',
  'visitors_count',
  'average_wait_time',
  // Tells that something else of the queue was changed, so that whoever shows that can read it.
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

/** What passes between operators. */
const hiddenFromVisitors: ReadonlySet<string> = new Set<FeedItemType>([
  'transfer_request.state',
  'transfer_ticket.state',
]);

/** Whether visitors see items of the type, which may be an event's. */
export function isForVisitors(type: string): boolean {
  return !hiddenFromVisitors.has(type) && traitsOf(type).hiddenFromVisitors !== true;
}
