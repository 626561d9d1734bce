import type { Delivery, Webhook } from '@usher/client/api-types';
import { maxCountedDeliveries } from '@usher/contract/limits';
import { channelOf } from './channels/channels.ts';

interface Words {
  readonly label: string;
  readonly color: string;
  readonly meaning: string;
}

export type DeliveryState = Delivery['state'];

export const states: Readonly<Record<DeliveryState, Words>> = {
  pending: { label: 'Pending', color: 'blue', meaning: 'About to be sent.' },
  retrying: { label: 'Retrying', color: 'yellow', meaning: 'The last attempt failed. It will be tried again.' },
  held: { label: 'Held', color: 'grape', meaning: 'Kept back while the webhook was off. Recover or replay it.' },
  delivered: { label: 'Delivered', color: 'green', meaning: 'The receiver accepted it.' },
  exhausted: { label: 'Failed', color: 'red', meaning: 'All attempts failed. Recover or replay it.' },
  discarded: {
    label: 'Discarded',
    color: 'gray',
    meaning: 'It was dropped, and is not recovered. It can be replayed.',
  },
};

export const stateNames = Object.keys(states) as readonly DeliveryState[];

/** Nothing more happens with it unless somebody asks for it. */
export function isSettled(state: DeliveryState): boolean {
  return state !== 'pending' && state !== 'retrying';
}

export function whyDisabled(webhook: Pick<Webhook, 'disabled_because' | 'url'>): string {
  switch (webhook.disabled_because) {
    case null:
    case 'asked':
      return 'switched off';
    case 'failing':
      return 'nothing has arrived for days';
    case 'gone':
    case 'token_ended':
      return channelOf(webhook).whyEnded;
  }
}

/** Characters of an address that are its name where it was given none. */
const longestName = 60;

export function nameOf({ description, url }: Pick<Webhook, 'description' | 'url'>): string {
  if (description !== null) return description;
  const name = url.replace(/^[a-z]+:\/\//i, '');
  return name.length > longestName ? `${name.slice(0, longestName)}…` : name;
}

/** `12 ms`, `1.4 s`, `15 s`. */
export function inDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

export function inCount(count: number): string {
  return count >= maxCountedDeliveries ? `${maxCountedDeliveries.toLocaleString()}+` : count.toLocaleString();
}

export function inPlural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
