import type { Operations, Webhook } from '@usher/sdk/api-types';
import { texts } from '../texts.ts';
import type { Found, Header } from './headers.ts';

export type WebhookBody = Operations['PUT /webhooks/{webhook_id}']['body'];

/**
 * One way to send events; `channels.ts` lists all. `Draft` is the editable part of a webhook of this channel. It is kept while
 * another channel is chosen, so that the choice can be undone.
 */
export interface Channel<Draft> {
  readonly kind: string;
  /** The schemes of its URLs, in lower case. */
  readonly schemes: readonly string[];
  /** The option in the form. */
  readonly label: string;
  readonly isSigned: boolean;
  /** Why the server disabled a webhook after a response of the receiver. */
  readonly whyEnded: string;
  readonly empty: Partial<Draft>;
  /** In rows. An input with a width is beside the one that takes the remaining width; other inputs are in two columns. */
  readonly inputs: readonly (readonly Input<Draft>[])[];
  /** How the draft is shown when two versions are compared. */
  readonly views: { readonly [Key in keyof Draft]?: { readonly label: string; show(value: Draft[Key]): string } };
  /** The draft of a stored webhook. */
  draftOf(webhook: Webhook): Partial<Draft>;
  bodyOf(draft: Draft): Pick<WebhookBody, 'url'> & Partial<WebhookBody>;
  faultsOf(draft: Draft): readonly Found[];
  /** The URL that the inputs result in, if none of them is the URL itself. */
  urlOf?(draft: Draft): string;
  /** Shown beside the URL in lists. */
  badgeOf(webhook: Webhook): string;
  /** The request of an attempt, as far as log and webhook have it. */
  requestOf(webhook: Webhook, event: SentEvent): SentRequest;
}

export interface SentEvent {
  readonly id: string;
  readonly sentSec: number;
}

export interface SentRequest {
  /** `POST https://…`. */
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

interface Common<Draft, Value> {
  /** The JSON pointer of the errors of this input. */
  readonly pointer: string;
  readonly label: string;
  readonly description?: string;
  get(draft: Draft): Value;
  set(value: Value, draft: Draft): Partial<Draft>;
  isShown?(draft: Draft): boolean;
}

export type Input<Draft> =
  | (Common<Draft, string> & {
      readonly type: 'text' | 'password';
      readonly placeholder?: string;
      readonly isUrl?: boolean;
    })
  | (Common<Draft, string> & {
      readonly type: 'choice';
      readonly width?: number;
      options(draft: Draft): readonly { readonly value: string; readonly label: string }[];
    })
  | (Common<Draft, boolean> & { readonly type: 'checkbox' })
  | (Common<Draft, readonly Header[]> & { readonly type: 'headers' });

/** The signature is computed for each attempt and not stored. */
export function signatureHeaders({ id, sentSec }: SentEvent): SentRequest['headers'] {
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(sentSec)],
    ['webhook-signature', texts.signatureNotStored],
  ];
}
