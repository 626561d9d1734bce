import type { Medium } from '@usher/contract/media';
import type { Actor } from './host.ts';
import type { Side } from './world.ts';

interface CardOption {
  readonly text: string;
  readonly value: string;
}

/** An action to carry out now. `key` identifies it: this process does not repeat an action, whether it succeeded or was refused. */
export type Action = { readonly key: string } & (
  | {
      readonly do: 'arrive';
      readonly name: string;
      readonly media: Medium;
      readonly queueId: string;
      readonly teams: readonly string[];
    }
  | {
      readonly do: 'set presence';
      readonly operatorId: string;
      readonly available: boolean;
      readonly media: readonly Medium[];
      readonly reason: string | null;
    }
  | { readonly do: 'abandon'; readonly ticketId: string; readonly visitorId: string }
  | {
      readonly do: 'answer';
      readonly requestId: string;
      readonly as: Actor;
      readonly answer: 'accept' | 'decline' | 'cancel';
      readonly transfer: boolean;
    }
  | ({ readonly engagementId: string; readonly as: Actor } & (
      | { readonly do: 'type' }
      | {
          readonly do: 'send';
          readonly content: string;
          readonly offers?: readonly CardOption[];
          readonly chooses?: string;
        }
      | { readonly do: 'acknowledge'; readonly messageId: string }
      | { readonly do: 'request audio' }
      | { readonly do: 'accept upgrade'; readonly upgradeId: string }
      | { readonly do: 'transfer'; readonly queueId: string; readonly media: Medium }
      | { readonly do: 'end' }
    ))
);

/** The current time, and how fast simulated time passes. */
export interface Clock {
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Arrivals up to this time have been planned. */
  readonly since: number;
  /** Simulated seconds per real second. */
  readonly speed: number;
}

/** Simulated seconds since an instant. */
export function elapsed({ now, speed }: Clock, since: number): number {
  return ((now - since) / 1000) * speed;
}

/** The simulated sides of an engagement. */
export type Sides = { readonly [Each in Side]?: Actor };
