import type { KeyObject } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type Type from 'typebox';
import type { Config } from '../../config.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { AddressGuard } from '../../platform/address-guard.ts';
import type { Sql } from '../../platform/database.ts';
import type { Violation } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Attempt } from './attempt.ts';

/** By whom a webhook came: `attached` with a ticket or request, `registered` by a super_manager. */
export type WebhookSource = 'registered' | 'attached';

/**
 * A way to send events. `<kind>.ts` holds everything about one, `channels.ts` lists them all, and the rest of Usher finds the
 * channel of a webhook by the scheme of its URL. `test/webhooks/channel.test.ts` has the smallest one.
 */
export interface Channel {
  readonly kind: string;
  /** Of its URLs, in lower case. */
  readonly schemes: readonly string[];
  /** How messages name such a URL: `an http or https URL`. */
  readonly urlName: string;
  /** How the API's description shows such a URL. */
  readonly urlForm: string;
  /** Whether a ticket or request may bring along a webhook of this channel. */
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
  /** What the schema of its fields cannot say. Fields of the wrong type are the schema's to report. */
  violations(given: Readonly<Record<string, unknown>>): readonly Violation[];
  /** The unit of connections, circuit breaker and lease. */
  originOf(url: string): string;
  /** Whose host is connected to, of a URL or an origin; `null`: a service that the settings name. */
  addressOf(url: string): URL | null;
  /** Once in a process. */
  open(context: ChannelContext): OpenChannel;
}

export interface ChannelContext {
  readonly settings: Pick<Config, 'apns'>;
  readonly sql: Sql;
  readonly sealer: Sealer;
  /** Whom a webhook may call depends on who brought it. */
  readonly guards: Readonly<Record<WebhookSource, AddressGuard>>;
  /** Resolves names that the settings give. */
  readonly lookup: LookupFunction;
}

export interface OpenChannel {
  /** How events are sent by this webhook. Throws if the stored URL has faults. */
  senderFor(webhook: StoredWebhook): Send;
  /** The destination's lease is given back or lost: closes its connections and cuts off what is under way. */
  leave(destination: DestinationOrigin): void;
  close(): void;
}

/** Sends one event, and waits for the answer for `answerMs` at most. Never rejects: whatever goes wrong is a failed attempt. */
export type Send = (event: OutgoingEvent, destination: DestinationOrigin, answerMs: number) => Promise<Attempt>;

/** As the database has it, with its secrets opened. */
export interface StoredWebhook {
  readonly id: string;
  readonly source: WebhookSource;
  readonly url: string;
  readonly method: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>> | null;
  readonly keys: SigningKeys;
  /** When it was given its URL, or a later moment. */
  readonly registeredAt: Date;
}

/** The former key signs too until the given time. */
export interface SigningKeys {
  readonly current: KeyObject | null;
  readonly former: { readonly key: KeyObject; readonly until: Date } | null;
}

/** A lease of a destination. A new lease is a new object, with connections of its own. */
export interface DestinationOrigin {
  readonly accountId: AccountId;
  readonly origin: string;
}

export interface OutgoingEvent {
  readonly id: string;
  /** As the webhook spells it. */
  readonly type: string;
  /** The payload. */
  readonly json: string;
}
