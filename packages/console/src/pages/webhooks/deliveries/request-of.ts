import type { Webhook } from '@usher/client/api-types';
import type { SentRequest } from '../channels/channel.ts';
import { channelOf } from '../channels/channels.ts';

interface Attempt {
  readonly at: string;
  readonly duration_ms: number | null;
}

/** What an attempt sent. The log keeps when, and of which event; how the webhook is called is taken from it as it is now. */
export function requestOf(webhook: Webhook, eventId: string, { at, duration_ms: tookMs }: Attempt): SentRequest | null {
  if (tookMs === null) return null;
  const sentSec = Math.floor((Date.parse(at) - tookMs) / 1_000);
  return channelOf(webhook).requestOf(webhook, { id: eventId, sentSec });
}
