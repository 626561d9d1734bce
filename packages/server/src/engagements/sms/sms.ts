import { maxMessageLength } from '@usher/contract/limits';
import Type from 'typebox';
import type { Receipt } from '../../carriers/carrier.ts';
import type { AccountId, Id, OperatorId, RequestId, SiteId, VisitorId } from '../../platform/ids.ts';
import { body, uuid } from '../../platform/schema.ts';

export type SmsId = Id<'sms'>;

/** The longest SMS that a carrier accepts. A longer chat message is split. */
export const maxSmsLength = 1_600;

const phoneNumber = Type.String({ pattern: String.raw`^\+[1-9]\d{6,14}$`, description: 'E.164, such as +3725551234' });

export const smsInput = body({
  site_id: uuid<'site'>(),
  from_number: Type.Unsafe<string>({ ...phoneNumber, description: 'One of your numbers at the carrier, E.164' }),
  to_number: phoneNumber,
  message: Type.String({ minLength: 1, maxLength: maxSmsLength }),
});

/** An operator's request by SMS and its two numbers: `from` is ours, `to` is the visitor's. */
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
  /** Includes the current attempt. */
  readonly attempts: number;
  /** Prepared so long ago that its request will not be created any more. */
  readonly isOld: boolean;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  /** The current state of the request; `null`: the request does not exist (yet). */
  readonly requestState: 'pending' | 'accepted' | 'failed' | null;
}

/** A due SMS. The process that claimed it processes it. */
export type Due =
  | (DueSms & {
      readonly direction: 'outbound';
      readonly state: OutboundState;
      /** Whether the SMS is the request itself; `false`: it carries a chat message. */
      readonly isRequest: boolean;
    })
  | (DueSms & { readonly direction: 'inbound' });

export type DueOutbound = Extract<Due, { direction: 'outbound' }>;
export type DueInbound = Extract<Due, { direction: 'inbound' }>;

/**
 * The next state of an SMS after a receipt; `null`: no change. Receipts may repeat and arrive in any order, so a state never moves
 * back and a final state never changes. `taken` may be the first news that the carrier has the SMS, because its answer can be lost.
 */
export function afterReceipt(state: OutboundState, receipt: Receipt): 'sent' | 'delivered' | 'failing' | null {
  if (state === 'delivered' || state === 'failing' || state === 'failed') return null;
  if (receipt.kind === 'delivered') return 'delivered';
  if (receipt.kind === 'failed') return 'failing';
  return state === 'sent' ? null : 'sent';
}

/** Opt-out keywords, which carriers must honour by law. A visitor who sends one declines the request. */
const optOuts = new Set(['stop', 'stopall', 'unsubscribe', 'cancel', 'end', 'quit']);

export function isOptOut(text: string): boolean {
  return optOuts.has(text.trim().toLowerCase());
}

/** The content of the chat message for a reply: never empty, and within the limit of a chat message. Attachments are not fetched. */
export function contentOf(text: string, mediaCount: number): string {
  const content = text.replaceAll('\0', '').slice(0, maxMessageLength).toWellFormed();
  if (content.trim() !== '') return content;
  return mediaCount > 0 ? '[media]' : '[empty]';
}

const maxErrorLength = 255;

/** Operators see the carrier's error text, so control characters are removed and it is shortened. */
export function cleanErrorText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim().slice(0, maxErrorLength).toWellFormed(); // prettier-ignore
}
