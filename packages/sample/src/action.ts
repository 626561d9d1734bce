import type { Medium } from '@usher/contract/media';
import type { Actor } from './host.ts';
import type { Side } from './world.ts';

interface Card {
  readonly text: string;
  readonly value: string;
}

/** Something to be done now. `key` says what it is: done, or tried in vain, it is not tried again while the process lasts. */
export type Action = { readonly key: string } & (
  | {
      readonly do: 'arrive';
      readonly name: string;
      readonly media: Medium;
      readonly queueId: string;
      readonly teams: readonly string[];
    }
  | {
      readonly do: 'be present';
      readonly operatorId: string;
      readonly available: boolean;
      readonly media: readonly Medium[];
      readonly reason: string | null;
    }
  | { readonly do: 'give up'; readonly ticketId: string; readonly visitorId: string }
  | {
      readonly do: 'answer';
      readonly requestId: string;
      readonly as: Actor;
      readonly answer: 'accept' | 'decline' | 'cancel';
      readonly transfer: boolean;
    }
  | ({ readonly engagementId: string; readonly as: Actor } & (
      | { readonly do: 'type' }
      | { readonly do: 'say'; readonly content: string; readonly offers?: readonly Card[]; readonly chooses?: string }
      | { readonly do: 'acknowledge'; readonly messageId: string }
      | { readonly do: 'ask for audio' }
      | { readonly do: 'accept upgrade'; readonly upgradeId: string }
      | { readonly do: 'hand on'; readonly queueId: string; readonly media: Medium }
      | { readonly do: 'end' }
    ))
);

/** When it is, and how fast time passes for those who are made up. */
export interface Clock {
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Since when arrivals have not been looked at. */
  readonly since: number;
  /** Seconds that pass in the sample for each real one. */
  readonly speed: number;
}

/** Seconds of the sample's time. */
export function elapsed({ now, speed }: Clock, since: number): number {
  return ((now - since) / 1000) * speed;
}

/** Those of the two for whom we speak. */
export type Sides = { readonly [Each in Side]?: Actor };
