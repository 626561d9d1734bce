import type { Medium } from '@usher/contract/media';
import type { EngagementId, OperatorId, QueueId, RequestId, TeamId, TicketId, VisitorId } from '../platform/ids.ts';

/** The sample site as it is at a moment: all that is looked at to decide what happens next. Times are epoch milliseconds. */
export interface World {
  readonly operators: readonly WorldOperator[];
  readonly teams: readonly TeamId[];
  readonly queues: readonly { readonly id: QueueId; readonly name: string; readonly media: readonly Medium[] }[];
  readonly tickets: readonly WorldTicket[];
  readonly requests: readonly WorldRequest[];
  readonly engagements: readonly WorldEngagement[];
}

export interface WorldOperator {
  readonly id: OperatorId;
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
  readonly id: TicketId;
  readonly visitorId: VisitorId;
  /** Whether we speak for the visitor. */
  readonly ours: boolean;
  readonly enqueuedAt: number;
}

export interface WorldRequest {
  readonly id: RequestId;
  readonly kind: 'ticket' | 'direct' | 'transfer';
  /** Who asks. */
  readonly origin: 'visitor' | 'operator';
  readonly operatorId: OperatorId;
  readonly visitorId: VisitorId;
  readonly ours: boolean;
  /** The visitor is one of the sample site, ours or not. */
  readonly ofSite: boolean;
  readonly createdAt: number;
}

export interface WorldEngagement {
  readonly id: EngagementId;
  readonly operatorId: OperatorId;
  readonly visitorId: VisitorId;
  readonly ours: boolean;
  readonly queueId: QueueId | null;
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
