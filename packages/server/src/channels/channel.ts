import type { LookupFunction } from 'node:net';
import type Type from 'typebox';
import type { Config } from '../config.ts';
import type { Sealer } from '../identity/sealer.ts';
import type { AddressGuard } from '../platform/outbound/address-guard.ts';
import type { Sql } from '../platform/database/database.ts';
import type { Violation } from '../platform/errors.ts';
import type { AccountId } from '../platform/ids.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import type { Attempt } from './attempt.ts';
import type { HmacKey } from './hmac-key.ts';

/** Where a webhook comes from: `attached` to a ticket or request, or `registered` by a super_manager. */
export type WebhookSource = 'registered' | 'attached';

/**
 * A way to send events. `<kind>.ts` has everything about one channel, `channels.ts` lists all of them, and the rest of Usher
 * finds the channel of a webhook by the scheme of its URL. `test/channels/channel.test.ts` has a minimal channel.
 */
export interface Channel {
  readonly kind: string;
  /** The schemes of its URLs, in lower case. */
  readonly schemes: readonly string[];
  /** The name of such a URL in error messages: `an http or https URL`. */
  readonly urlName: string;
  /** The form of such a URL, for openapi.json. */
  readonly urlForm: string;
  /** Whether webhooks of this channel may be attached to a ticket or request. */
  readonly isAttachable: boolean;
  /** Fields of a registration, beside those that every webhook has. Fields of other channels are refused. */
  readonly fields: Readonly<Record<string, Type.TSchema>>;
  readonly requiredFields: readonly string[];
  /** Why its events are not signed and have no secret; `null`: they are signed. */
  readonly unsigned: string | null;
  /** Why a webhook is disabled after an attempt with the verdict `ended`. */
  readonly endsBecause: 'gone' | 'token_ended';
  /** Everything that is wrong with a URL of one of its schemes. */
  urlFaults(url: string): readonly string[];
  /** Checks that the schema of its fields cannot express. The schema reports fields of a wrong type. */
  violations(given: Readonly<Record<string, unknown>>): readonly Violation[];
  /** The origin of the URL. A destination is an account and an origin; connections, circuit breaker and lease belong to it. */
  originOf(url: string): string;
  /** The URL whose host is connected to, for a URL or an origin; `null`: the host comes from the settings. */
  addressOf(url: string): URL | null;
  /** Called once per process. */
  open(context: ChannelContext): OpenChannel;
}

export interface ChannelContext {
  readonly settings: Pick<Config, 'apns'>;
  readonly sql: Sql;
  readonly sealer: Sealer;
  /** Registered and attached webhooks may call different addresses. */
  readonly guards: Readonly<Record<WebhookSource, AddressGuard>>;
  /** Resolves host names from the settings. */
  readonly lookup: LookupFunction;
}

export interface OpenChannel {
  /** The function that sends events to this webhook. Throws if the stored URL is invalid. */
  senderFor(webhook: StoredWebhook): Send;
  /** Closes the connections of the destination and aborts its requests. Called when its lease is released or lost. */
  closeDestination(destination: DestinationOrigin): void;
  close(): void;
}

/** Sends one event, and waits at most `answerMs` for the answer. Never rejects: every error is a failed attempt. */
export type Send = (event: OutgoingEvent, destination: DestinationOrigin, answerMs: number) => Promise<Attempt>;

/** The webhook as it is stored, with its secrets unsealed. */
export interface StoredWebhook {
  readonly id: string;
  readonly source: WebhookSource;
  readonly url: string;
  readonly method: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>> | null;
  readonly keys: SigningKeys;
  /** When the webhook was given its URL, or later. */
  readonly registeredAt: Date;
}

/** Until the given time, requests are signed with the former key too. */
export interface SigningKeys {
  readonly current: HmacKey | null;
  readonly former: { readonly key: HmacKey; readonly until: Date } | null;
}

/** A destination during one lease. A new lease is a new object with its own connections. */
export interface DestinationOrigin {
  readonly accountId: AccountId;
  readonly origin: string;
}

export interface OutgoingEvent {
  readonly id: string;
  /** In the spelling that the webhook subscribed (D8.3). */
  readonly type: string;
  /** The payload. */
  readonly json: string;
  /** The trace of the request that caused the event, to pass on if the channel has headers. */
  readonly trace?: TraceContext | null;
}
