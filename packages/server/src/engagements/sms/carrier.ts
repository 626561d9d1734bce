import type { SmsId } from './sms.ts';

export interface OutgoingSms {
  readonly id: SmsId;
  readonly from: string;
  readonly to: string;
  readonly body: string;
}

/** What came of an attempt to send. */
export type Sending =
  | { readonly outcome: 'sent'; readonly sid: string | null }
  /** It may be tried again: the carrier is busy, broken or out of reach. Whether the SMS has left may be unknown. */
  | { readonly outcome: 'postponed'; readonly why: string; readonly afterMs: number | null }
  | { readonly outcome: 'refused'; readonly why: string };

export interface Carrier {
  /** Never throws. `stopping` cuts it short. */
  send(sms: OutgoingSms, stopping: AbortSignal): Promise<Sending>;
  /** Lets go of its connections. */
  close(): Promise<void>;
}
