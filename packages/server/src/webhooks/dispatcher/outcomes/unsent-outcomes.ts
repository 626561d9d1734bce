import type { Attempt } from '../../../channels/attempt.ts';
import { maxEventBytes } from '../transport.ts';
import { decide } from './decide.ts';
import type { Delivery } from '../delivery.ts';
import type { Outcome } from './outcomes.ts';
import type { CachedWebhook } from '../reading/webhook-cache.ts';

/** Outcomes of deliveries for which no request was made. */

/** Why a delivery is not sent, for the delivery log; `null`: it is sent. */
export function reasonNotSent(webhook: CachedWebhook | null, delivery: Delivery): string | null {
  const { payload } = delivery;
  if (webhook === null || webhook.deleted) return 'the webhook was deleted';
  if (!webhook.enabled) return 'the webhook is disabled';
  if (hasLostSite(webhook, delivery)) return 'the webhook was changed and no longer covers the site';
  if (payload === null) return 'the event is no longer in the log';
  return Buffer.byteLength(payload) > maxEventBytes ? 'the event is too large' : null;
}

/**
 * Whether the webhook was changed, perhaps to another URL, after the delivery was created, and no longer covers the event's site.
 * An unchanged webhook is still sent the deliveries that were created while it covered the site.
 */
function hasLostSite({ covers, updatedAt }: CachedWebhook, { siteId, createdAt }: Delivery): boolean {
  return covers !== null && siteId !== null && !covers.has(siteId) && createdAt < updatedAt;
}

/** The outcome of a delivery that is not sent. */
export function skippedOutcome(delivery: Delivery, epoch: number, webhook: CachedWebhook | null): Outcome {
  const isHeld = webhook !== null && !webhook.deleted && !webhook.enabled;
  return {
    delivery,
    epoch,
    at: new Date(),
    state: isHeld ? 'held' : 'discarded',
    delayMs: null,
    parked: delivery.parked,
    attempt: null,
    note: reasonNotSent(webhook, delivery),
  };
}

const unbuiltAttempt: Attempt = {
  verdict: 'failed',
  unavailable: false,
  status: null,
  answer: null,
  error: 'the request could not be built',
  durationMs: 0,
  retryAfterMs: null,
};

/** The outcome of a delivery whose request could not be built. The cause may be permanent, such as a secret that cannot be unsealed. */
export function unbuiltOutcome(delivery: Delivery, epoch: number): Outcome {
  return {
    delivery,
    epoch,
    at: new Date(),
    ...decide(delivery, unbuiltAttempt, Math.random()),
    attempt: unbuiltAttempt,
    note: null,
  };
}
