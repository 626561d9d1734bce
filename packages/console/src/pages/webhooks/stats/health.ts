import type { Webhook, WebhookWaiting } from '@usher/sdk/api-types';

/**
 * How a webhook is doing, in one word:
 *
 * - `off`: disabled; nothing is sent.
 * - `failing`: nothing was delivered for a minute, and since then it has not delivered for ten minutes without a failure (D8.13).
 * - `retrying`: at least one delivery has failed and waits for its next attempt, though others may arrive.
 * - `on`: everything that was due has arrived.
 *
 * In the first minute a success clears `failing_since`, so a receiver that answers 200 and 500 in turn would change its status with
 * every attempt. A delivery that failed stays `retrying` until it arrives or is given up, so the status stays the same in between.
 */
export type Health = 'off' | 'failing' | 'retrying' | 'on';

/** One failed attempt may be a restart of the receiver. After a minute without any success it is an outage. */
const outageMs = 60_000;

export function healthOf(
  { enabled, failing_since: failingSince }: Pick<Webhook, 'enabled' | 'failing_since'>,
  waiting: Pick<WebhookWaiting, 'retrying'> | undefined,
  now: number,
): Health {
  if (!enabled) return 'off';
  if (failingSince !== null && now - Date.parse(failingSince) >= outageMs) return 'failing';
  return failingSince !== null || (waiting?.retrying ?? 0) > 0 ? 'retrying' : 'on';
}
