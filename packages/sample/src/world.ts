import type { Medium } from '@usher/contract/media';

/** The sample site at one moment: everything that decides what happens next. Times are epoch milliseconds. */
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
  /** Where it stands among `players`; `null`: somebody real. */
  readonly player: number | null;
  readonly enabled: boolean;
  readonly available: boolean;
  readonly reason: string | null;
  /** `null`: nothing was ever said of it. */
  readonly saidAt: number | null;
  /** `null`: until changed. */
  readonly expiresAt: number | null;
}

export interface WorldTicket {
  readonly id: string;
  readonly visitorId: string;
  /** Whether we speak for the visitor. */
  readonly ours: boolean;
  readonly enqueuedAt: number;
}

export interface WorldRequest {
  readonly id: string;
  readonly kind: 'ticket' | 'direct' | 'transfer';
  /** Who asks. */
  readonly origin: 'visitor' | 'operator';
  readonly operatorId: string;
  readonly visitorId: string;
  readonly ours: boolean;
  /** The visitor is one of the sample site, ours or not. */
  readonly ofSite: boolean;
  readonly createdAt: number;
}

export interface WorldEngagement {
  readonly id: string;
  readonly operatorId: string;
  readonly visitorId: string;
  readonly ours: boolean;
  readonly queueId: string | null;
  readonly media: Medium;
  readonly startedAt: number;
  /** It has passed from one operator to another. */
  readonly handedOn: boolean;
  /** It is about to. */
  readonly handing: boolean;
  readonly said: { readonly visitor: number; readonly operator: number };
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
  /** What there is to choose from. */
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

export type Side = 'visitor' | 'operator';

/** Which of what goes on: that of the people we speak for, or everything that has to do with the sample. */
export type Extent = 'ours' | 'all';

/** A ticket, request or engagement that has not ended. */
export interface UnderWay {
  readonly what: 'ticket' | 'request' | 'engagement';
  readonly id: string;
  readonly visitorId: string;
  readonly operatorId: string | null;
  /** Who made the request; `null`: it is none. */
  readonly origin: Side | null;
  /** Whether the visitor is of the sample site, and the operator one of the sample's. We act in nobody else's name. */
  readonly ofSite: boolean;
  readonly isPlayer: boolean;
}
