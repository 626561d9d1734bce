import { maxMessageLength } from '@usher/contract/limits';
import Type from 'typebox';
import type { AccountId, Id, OperatorId, RequestId, SiteId, VisitorId } from '../../platform/ids.ts';
import { body, uuid } from '../../platform/schema.ts';

export type SmsId = Id<'sms'>;

/** What a carrier takes in one message; longer chat messages go as several. */
export const longestSms = 1_600;

const phoneNumber = Type.String({ pattern: String.raw`^\+[1-9]\d{6,14}$`, description: 'E.164, such as +3725551234' });

export const smsInput = body({
  site_id: uuid<'site'>(),
  from_number: Type.Unsafe<string>({ ...phoneNumber, description: 'A number of yours with the carrier, E.164' }),
  to_number: phoneNumber,
  message: Type.String({ minLength: 1, maxLength: longestSms }),
});

/** An operator's request by SMS, and between which numbers: `from` is ours, `to` the visitor's. */
export interface SmsThread {
  readonly requestId: RequestId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  readonly from: string;
  readonly to: string;
}

export type OutboundState = 'prepared' | 'queued' | 'sending' | 'sent' | 'delivered' | 'failing' | 'failed';

interface DueSms {
  readonly id: SmsId;
  readonly accountId: AccountId;
  readonly requestId: RequestId;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly error: string | null;
  /** The one under way included. */
  readonly attempts: number;
  readonly isOld: boolean;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  /** Of the request as it is now; `null`: it never was, or is not yet. */
  readonly requestState: 'pending' | 'accepted' | 'failed' | null;
}

/** An SMS about which something is to be done, and is by whoever has claimed it. */
export type Due =
  | (DueSms & {
      readonly direction: 'outbound';
      readonly state: OutboundState;
      /** `false`: it carries a chat message. */
      readonly asks: boolean;
    })
  | (DueSms & { readonly direction: 'inbound' });

export type DueOutbound = Extract<Due, { direction: 'outbound' }>;
export type DueInbound = Extract<Due, { direction: 'inbound' }>;

/** What a receipt of the carrier says; `taken`: no more than that it has the message. */
export type Receipt =
  { readonly kind: 'delivered' } | { readonly kind: 'failed'; readonly why: string } | { readonly kind: 'taken' };

/**
 * What becomes of an SMS by a receipt; `null`: nothing. Receipts come repeated and in any order, so nothing goes back, and
 * what has ended stays as it ended. That the carrier has it we may not have heard: its answer can be lost.
 */
export function afterReceipt(state: OutboundState, receipt: Receipt): 'sent' | 'delivered' | 'failing' | null {
  if (state === 'delivered' || state === 'failing' || state === 'failed') return null;
  if (receipt.kind === 'delivered') return 'delivered';
  if (receipt.kind === 'failed') return 'failing';
  return state === 'sent' ? null : 'sent';
}

/** What carriers by law take for "no more": they keep it, and whoever sends it has not accepted anything. */
const optOuts = new Set(['stop', 'stopall', 'unsubscribe', 'cancel', 'end', 'quit']);

export function isOptOut(text: string): boolean {
  return optOuts.has(text.trim().toLowerCase());
}

/** A chat message cannot be empty, nor longer than the carrier ever brings; pictures and the like stay with the carrier. */
export function contentOf(text: string, mediaCount: number): string {
  const content = text.replaceAll('\0', '').slice(0, maxMessageLength).toWellFormed();
  if (content.trim() !== '') return content;
  return mediaCount > 0 ? '[media]' : '[empty]';
}

const longestError = 255;

/** What a carrier says is shown to the operator, so it is bounded and can be stored. */
export function readable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim().slice(0, longestError).toWellFormed(); // prettier-ignore
}
