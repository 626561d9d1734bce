import type { Attempt } from '../channels/attempt.ts';
import { longestEvent } from './courier.ts';
import { decide } from './decide.ts';
import type { Delivery } from './delivery.ts';
import type { Outcome } from './outcomes.ts';
import type { CalledWebhook } from './webhook-book.ts';

/** Outcomes of deliveries for which no request was made. */

/** Why a delivery is not even tried; `null`: it is. */
export function whyNot(webhook: CalledWebhook | null, delivery: Delivery): string | null {
  const { payload } = delivery;
  if (webhook === null || webhook.deleted) return 'the webhook was deleted';
  if (!webhook.enabled) return 'the webhook is disabled';
  if (isOfLostSite(webhook, delivery)) return 'the webhook was changed and no longer hears of the site';
  if (payload === null) return 'the event is no longer in the log';
  return Buffer.byteLength(payload) > longestEvent ? 'the event is too large' : null;
}

/**
 * Whether the webhook has been changed, perhaps to another URL, since the event was written for it, and no longer hears of the
 * event's site. As long as nobody has changed it, what was written for it while it heard of the site is still sent.
 */
function isOfLostSite({ covers, updatedAt }: CalledWebhook, { siteId, createdAt }: Delivery): boolean {
  return covers !== null && siteId !== null && !covers.has(siteId) && createdAt < updatedAt;
}

/** Of a delivery that is not to be sent at all. */
export function turnedAway(delivery: Delivery, epoch: number, webhook: CalledWebhook | null): Outcome {
  const isHeld = webhook !== null && !webhook.deleted && !webhook.enabled;
  return {
    delivery,
    epoch,
    at: new Date(),
    state: isHeld ? 'held' : 'discarded',
    delayMs: null,
    parked: delivery.parked,
    attempt: null,
    note: whyNot(webhook, delivery),
  };
}

const notMade: Attempt = {
  verdict: 'failed',
  unavailable: false,
  status: null,
  answer: null,
  error: 'the request could not be made up',
  durationMs: 0,
  retryAfterMs: null,
};

/** Of a delivery whose request could not be made up. The reason may last (a secret that cannot be opened, say). */
export function failedUnmade(delivery: Delivery, epoch: number): Outcome {
  return { delivery, epoch, at: new Date(), ...decide(delivery, notMade, Math.random()), attempt: notMade, note: null };
}
