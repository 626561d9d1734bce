import type { Delivery, Webhook } from '@usher/sdk/api-types';
import { maxCountedDeliveries } from '@usher/contract/limits';
import { channelOf } from './channels/channels.ts';
import { texts } from './texts.ts';

interface StateLabel {
  readonly label: string;
  readonly color: string;
  readonly meaning: string;
}

export type DeliveryState = Delivery['state'];

export const states: Readonly<Record<DeliveryState, StateLabel>> = {
  pending: { label: texts.pending, color: 'blue', meaning: texts.pendingMeaning },
  retrying: { label: texts.retrying, color: 'yellow', meaning: texts.retryingMeaning },
  held: { label: texts.held, color: 'grape', meaning: texts.heldMeaning },
  delivered: { label: texts.delivered, color: 'green', meaning: texts.deliveredMeaning },
  exhausted: { label: texts.failed, color: 'red', meaning: texts.failedMeaning },
  discarded: {
    label: texts.discarded,
    color: 'gray',
    meaning: texts.discardedMeaning,
  },
};

export const stateNames = Object.keys(states) as readonly DeliveryState[];

/** Whether the delivery is final: nothing more happens unless somebody replays it. */
export function isFinal(state: DeliveryState): boolean {
  return state !== 'pending' && state !== 'retrying';
}

export function disabledReason(webhook: Pick<Webhook, 'disabled_because' | 'url'>): string {
  switch (webhook.disabled_because) {
    case null:
    case 'asked':
      return texts.disabledManually;
    case 'failing':
      return texts.failedForDays;
    case 'gone':
    case 'token_ended':
      return channelOf(webhook).whyEnded;
  }
}

/** A webhook without a description is named by the first characters of its URL. */
const maxNameLength = 60;

export function nameOf({ description, url }: Pick<Webhook, 'description' | 'url'>): string {
  if (description !== null) return description;
  const name = url.replace(/^[a-z]+:\/\//i, '');
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}

/** `12 ms`, `1.4 s`, `15 s`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return texts.milliseconds(Math.round(ms));
  const seconds = ms / 1_000;
  return texts.seconds(seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds)));
}

export function formatCount(count: number): string {
  return count >= maxCountedDeliveries ? `${maxCountedDeliveries.toLocaleString()}+` : count.toLocaleString();
}
