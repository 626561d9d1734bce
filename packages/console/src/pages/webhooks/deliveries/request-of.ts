import type { Webhook } from '@usher/sdk/api-types';
import type { SentRequest } from '../channels/channel.ts';
import { channelOf } from '../channels/channels.ts';

interface Attempt {
  readonly at: string;
  readonly duration_ms: number | null;
}

/** The request of an attempt. The log stores its time and event; method, URL and headers are the current ones of the webhook. */
export function requestOf(webhook: Webhook, eventId: string, { at, duration_ms: tookMs }: Attempt): SentRequest | null {
  if (tookMs === null) return null;
  const sentSec = Math.floor((Date.parse(at) - tookMs) / 1_000);
  return channelOf(webhook).requestOf(webhook, { id: eventId, sentSec });
}
