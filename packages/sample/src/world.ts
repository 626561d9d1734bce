import type { Medium } from '@usher/contract/media';

/** The state of the sample site at one moment; all that a plan depends on. Times are epoch milliseconds. */
export interface World {
  readonly operators: readonly WorldOperator[];
  readonly teams: readonly string[];
  readonly queues: readonly { readonly id: string; readonly name: string; readonly media: readonly Medium[] }[];
  readonly tickets: readonly WorldTicket[];
  readonly requests: readonly WorldRequest[];
  readonly engagements: readonly WorldEngagement[];
}

export interface WorldOperator {
  readonly id: string;
  /** The index in `players`; `null`: a real operator. */
  readonly player: number | null;
  readonly enabled: boolean;
  readonly available: boolean;
  readonly reason: string | null;
  /** When the presence was set; `null`: never. */
  readonly setAt: number | null;
  /** `null`: the presence does not expire. */
  readonly expiresAt: number | null;
}

export interface WorldTicket {
  readonly id: string;
  readonly visitorId: string;
  /** Whether the visitor is simulated. */
  readonly simulated: boolean;
  readonly enqueuedAt: number;
}

export interface WorldRequest {
  readonly id: string;
  readonly kind: 'ticket' | 'direct' | 'transfer';
  /** The side that made the request. */
  readonly origin: 'visitor' | 'operator';
  readonly operatorId: string;
  readonly visitorId: string;
  readonly simulated: boolean;
  /** Whether the visitor is on the sample site, simulated or real. */
  readonly ofSite: boolean;
  readonly createdAt: number;
}

export interface WorldEngagement {
  readonly id: string;
  readonly operatorId: string;
  readonly visitorId: string;
  readonly simulated: boolean;
  readonly queueId: string | null;
  readonly media: Medium;
  readonly startedAt: number;
  /** The engagement was transferred at least once. */
  readonly isTransferred: boolean;
  /** A transfer is in progress. */
  readonly isTransferring: boolean;
  readonly messageCounts: { readonly visitor: number; readonly operator: number };
  readonly last: WorldMessage | null;
  readonly upgrade: {
    readonly id: string;
    readonly target: Side;
    readonly pending: boolean;
    readonly createdAt: number;
  } | null;
}

interface WorldMessage {
  readonly id: string;
  readonly from: Side;
  readonly at: number;
  readonly arrived: boolean;
  /** The options that the message offers. */
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

export type Side = 'visitor' | 'operator';

/** Only what simulated people take part in, or everything that involves the sample. */
export type Scope = 'simulated' | 'all';

/** A ticket, request or engagement that has not ended. */
export interface ActiveItem {
  readonly kind: 'ticket' | 'request' | 'engagement';
  readonly id: string;
  readonly visitorId: string;
  readonly operatorId: string | null;
  /** The side that made the request; `null`: not a request. */
  readonly origin: Side | null;
  /** Whether the visitor is on the sample site, and whether the operator is simulated. The simulation acts only in these names. */
  readonly ofSite: boolean;
  readonly isPlayer: boolean;
}
