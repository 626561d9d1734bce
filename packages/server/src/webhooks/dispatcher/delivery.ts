import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import type { Id } from '../../platform/ids.ts';

export type DeliveryId = Id<'delivery'>;

/** A waiting delivery, as the dispatcher has it in memory. */
export interface Delivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly destinationId: DestinationId;
  /** Deliveries of the same engagement are sent in order; `null`: unordered. */
  readonly engagementId: string | null;
  readonly eventId: string;
  readonly seq: number;
  /** In the spelling that the webhook subscribed (D8.3). */
  readonly type: string;
  /** Number of failed attempts. */
  readonly attempts: number;
  /** D8.7: after too many failures, the others of its lane no longer wait for it. */
  readonly parked: boolean;
  /** The delivery has a due time, which has come. Fresh deliveries have none and are sent in the order of the log. */
  readonly isDelayed: boolean;
  /** When the event was written for the webhook, by the clock of the database. */
  readonly createdAt: Date;
  /** The site of the event; `null`: a test, or an event without a site. */
  readonly siteId: string | null;
  /** The event as JSON; `null`: the log no longer has it. */
  readonly payload: string | null;
  /** The trace of the request that caused the event; null or absent: it had none. */
  readonly traceparent?: string | null;
  readonly tracestate?: string | null;
}
