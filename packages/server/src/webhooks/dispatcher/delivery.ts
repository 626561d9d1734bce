import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import type { Id } from '../../platform/ids.ts';

export type DeliveryId = Id<'delivery'>;

/** A delivery that is to be made, as the dispatcher holds it in memory. */
export interface Delivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly destinationId: DestinationId;
  /** What keeps its order: the engagement; `null`: nothing does. */
  readonly engagementId: string | null;
  readonly eventId: string;
  readonly seq: number;
  /** As the webhook spells it. */
  readonly type: string;
  /** That have failed. */
  readonly attempts: number;
  /** It has failed too often for others to wait for it. */
  readonly parked: boolean;
  /** It was put off and has fallen due; others are taken in the order of the log. */
  readonly putOff: boolean;
  /** When the event was written for the webhook, by the clock of the database. */
  readonly createdAt: Date;
  /** Where the event happened; `null`: nowhere, as a test. */
  readonly siteId: string | null;
  /** The event as JSON; `null`: the log no longer has it. */
  readonly payload: string | null;
}
