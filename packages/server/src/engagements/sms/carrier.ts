import type { IncomingHttpHeaders } from 'node:http';
import type { Receipt, SmsId } from './sms.ts';

/**
 * A carrier of SMS: it takes what we send, and calls us with receipts and with what visitors write. All that differs between
 * carriers is behind this interface, in one file of `carriers/`: the form of requests, the signature, and what each answer means.
 */
export interface Carrier {
  /** Never throws. Aborting `stopping` ends the attempt. */
  send(sms: OutgoingSms, stopping: AbortSignal): Promise<Sending>;
  /** The only content type that the hooks take. */
  readonly contentType: string;
  /** Whether a request to a hook carries a signature at all. One that does not is refused before its body is read. */
  carriesSignature(headers: IncomingHttpHeaders): boolean;
  readonly receipts: Hook<ReceiptCall>;
  readonly inbound: Hook<InboundCall>;
  /** Closes its connections. */
  close(): Promise<void>;
}

export interface OutgoingSms {
  readonly id: SmsId;
  readonly from: string;
  readonly to: string;
  readonly body: string;
}

/** What came of an attempt to send. `sid` is the carrier's own id of the message. */
export type Sending =
  | { readonly outcome: 'sent'; readonly sid: string | null }
  /** The carrier is busy, broken or out of reach, so we try again. Whether the SMS has left may be unknown. */
  | { readonly outcome: 'postponed'; readonly why: string; readonly afterMs: number | null }
  | { readonly outcome: 'refused'; readonly why: string };

/** An address of ours that the carrier posts to. */
export interface Hook<Call> {
  readonly path: `/carriers/${string}`;
  /** Checks the signature before anything else; `null`: it is wrong. A signed request with fields that make no sense is not an error. */
  read(request: HookRequest): Call | null;
  /** What the carrier wants to be answered; `null`: nothing, with status 204. */
  readonly answer: { readonly contentType: string; readonly body: string } | null;
}

export interface HookRequest {
  readonly headers: IncomingHttpHeaders;
  /** With its question mark; empty: there is none. */
  readonly query: string;
  readonly body: string;
}

/** What a receipt is about and what it says. */
export interface ReceiptCall {
  /** Our id of the SMS, where the receipt names it, and the carrier's. */
  readonly id: string | null;
  readonly sid: string | null;
  /** `null`: a status that we do not know. */
  readonly receipt: Receipt | null;
}

/** An SMS that somebody sent to one of our numbers. */
export interface InboundCall {
  /** `null`: there is none that could be stored. */
  readonly sid: string | null;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Pictures and the like, which stay with the carrier. */
  readonly mediaCount: number;
}
