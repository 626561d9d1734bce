import type { Webhook } from '@usher/client/api-types';

interface Attempt {
  readonly at: string;
  readonly duration_ms: number | null;
}

interface SentRequest {
  /** `POST https://…`. */
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const agent = 'Usher-Webhooks/1';

/**
 * What an attempt sent. The log keeps when, and of which event; how the webhook is called is taken from it as it is now. A
 * signature is made for each attempt and not kept.
 */
export function requestOf(webhook: Webhook, eventId: string, { at, duration_ms: tookMs }: Attempt): SentRequest | null {
  if (tookMs === null) return null;
  const { url, method, headers } = webhook;
  if (method === null) return { line: 'A push notification by Apple', headers: [['to', url]] };
  const own = Object.entries(headers ?? {});
  const isNamed = own.some(([name]) => name.toLowerCase() === 'user-agent');
  const sentSec = Math.floor((Date.parse(at) - tookMs) / 1_000);
  return {
    line: `${method} ${url}`,
    headers: [
      ['content-type', 'application/json'],
      ...(isNamed ? [] : [['user-agent', agent] as const]),
      ...own,
      ['webhook-id', eventId],
      ['webhook-timestamp', String(sentSec)],
      ['webhook-signature', 'v1,… (made for each attempt, not kept)'],
    ],
  };
}
