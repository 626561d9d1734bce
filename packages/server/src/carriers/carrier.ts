import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'undici';

/**
 * An SMS carrier: it delivers our SMS, and calls us with receipts and with visitors' replies. Everything that differs between carriers
 * is behind this interface, in one file of this folder: its settings, the format of requests, the signature, and the meaning of each answer.
 */
export interface Carrier {
  /** Never throws. Aborting `stopping` ends the attempt. */
  send(sms: OutgoingSms, stopping: AbortSignal): Promise<SendResult>;
  /** The only content type that the hooks accept. */
  readonly contentType: string;
  /** Whether a request to a hook carries a signature. A request without one is refused before its body is read. */
  carriesSignature(headers: IncomingHttpHeaders): boolean;
  readonly receipts: Hook<ReceiptCall>;
  readonly inbound: Hook<InboundCall>;
  /** Closes its connections. */
  close(): Promise<void>;
}

export interface OutgoingSms {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
}

/** The result of one attempt to send. `sid` is the carrier's id of the message. */
export type SendResult =
  | { readonly outcome: 'sent'; readonly sid: string | null }
  /** The carrier is busy, failing or unreachable, so the SMS is retried. The carrier may have sent it nevertheless. */
  | { readonly outcome: 'postponed'; readonly why: string; readonly afterMs: number | null }
  | { readonly outcome: 'refused'; readonly why: string };

/** A URL of ours that the carrier posts to. */
export interface Hook<Call> {
  readonly path: `/carriers/${string}`;
  /** Checks the signature first; `null`: the signature is wrong. A signed request with invalid fields is not an error. */
  read(request: HookRequest): Call | null;
  /** The answer that the carrier expects; `null`: 204 without a body. */
  readonly answer: { readonly contentType: string; readonly body: string } | null;
}

export interface HookRequest {
  readonly headers: IncomingHttpHeaders;
  /** Includes the question mark; empty if there is no query. */
  readonly query: string;
  readonly body: string;
}

/** The status in a carrier's receipt. `taken`: the carrier has accepted the SMS, and nothing more is known. */
export type Receipt =
  { readonly kind: 'delivered' } | { readonly kind: 'failed'; readonly why: string } | { readonly kind: 'taken' };

/** A receipt and the SMS it refers to. */
export interface ReceiptCall {
  /** Our id of the SMS, if the receipt names it. `sid` is the carrier's id. */
  readonly id: string | null;
  readonly sid: string | null;
  /** `null`: an unknown status. */
  readonly receipt: Receipt | null;
}

/** An SMS that was sent to one of our numbers. */
export interface InboundCall {
  /** `null`: missing or invalid. */
  readonly sid: string | null;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** The number of attachments, such as pictures. They are not fetched from the carrier. */
  readonly mediaCount: number;
}

/**
 * A kind of carrier, with its settings. It takes its part of the configuration, whose key is its name, and returns `null` if that is not set.
 */
export interface CarrierKind<Config, Setting extends string> {
  readonly settings: readonly SettingRow<Setting>[];
  readonly read: (reader: SettingReader<Setting>) => Config;
  readonly open: (config: Config, network: CarrierNetwork) => Carrier | null;
  /** Where the carrier is reached, and which setting says so. */
  readonly address: (config: Config) => { readonly url: string; readonly setting: Setting } | null;
}

/** A setting as docs/guide/settings.md lists it. */
export interface SettingRow<Setting extends string> {
  readonly name: Setting;
  readonly fallback: '';
  readonly meaning: string;
}

/** Reads settings from the environment (`config.ts`). A refusal names the setting and never repeats its value, which may be a secret. */
export interface SettingReader<Setting extends string> {
  /** Whether all are set. Setting only some of them is an error. */
  areSet(names: readonly Setting[]): boolean;
  /** A text of this form. `description` ends the sentence "… must be". */
  text(name: Setting, form: RegExp, description: string): string;
  /** An http or https URL without credentials, query, fragment or trailing slash. */
  url(name: Setting): string;
}

/** The way to a carrier over HTTP. */
export interface CarrierNetwork {
  /** Posts without following redirects, which would take the credentials elsewhere. */
  post(url: string, request: PostRequest): Promise<Response>;
  close(): Promise<void>;
}

interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: URLSearchParams | string;
  readonly signal: AbortSignal;
}
