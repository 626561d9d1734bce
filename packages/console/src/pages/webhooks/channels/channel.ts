import type { Operations, Webhook } from '@usher/client/api-types';
import { texts } from '../texts.ts';
import type { Header } from './headers.ts';

export type WebhookBody = Operations['PUT /webhooks/{webhook_id}']['body'];

/** What a fault points at, by the pointers that the server uses or those of the channel's inputs; `null`: there is none. */
export type Found = readonly [pointer: string, fault: string | null];

/**
 * What the console knows of one way to send events; `channels.ts` lists them. `Draft` is what is edited of a webhook of this
 * channel. It stays while another channel is chosen, so that the choice can be undone.
 */
export interface Channel<Draft> {
  readonly kind: string;
  /** Of its URLs, in lower case. */
  readonly schemes: readonly string[];
  /** What is chosen in the form. */
  readonly label: string;
  readonly isSigned: boolean;
  /** Why the receiver's answer switched off a webhook. */
  readonly whyEnded: string;
  readonly empty: Partial<Draft>;
  /** In rows: those with a width stand beside the one that takes the rest, others in two columns. */
  readonly inputs: readonly (readonly Input<Draft>[])[];
  /** How a conflict of two edits shows the parts of the draft. */
  readonly views: { readonly [Key in keyof Draft]?: { readonly label: string; show(value: Draft[Key]): string } };
  /** Of a webhook of this channel. */
  draftOf(webhook: Webhook): Partial<Draft>;
  bodyOf(draft: Draft): Pick<WebhookBody, 'url'> & Partial<WebhookBody>;
  faultsOf(draft: Draft): readonly Found[];
  /** The URL that the inputs make, where none of them is the URL. */
  urlOf?(draft: Draft): string;
  /** In lists, beside the URL. */
  badgeOf(webhook: Webhook): string;
  /** What an attempt sent, as far as the log and the webhook tell. */
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
  /** Where faults point. */
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

/** The signature is made for each attempt and not kept. */
export function signatureHeaders({ id, sentSec }: SentEvent): SentRequest['headers'] {
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(sentSec)],
    ['webhook-signature', texts.signatureNotStored],
  ];
}
