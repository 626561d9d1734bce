import { maxUrlLength } from '@usher/contract/limits';
import { messageAudiences, type MessageAudience } from '@usher/contract/states';
import { headerFaults, headerLimits, headerPointer, headerSizeFault } from '@usher/contract/webhook-headers';
import { secretFault } from '@usher/contract/webhook-secret';
import { characterFault, httpUrlFault, schemeOf } from '@usher/contract/webhook-url';
import Type from 'typebox';
import type { Violation } from '../platform/errors.ts';
import { checked, list, oneOf } from '../platform/schema.ts';
import { isApns, parseApnsUrl } from './apns-url.ts';
import { eventTypes, type EventType } from './catalogue.ts';
import { webhookSecret } from './webhook-secret.ts';

/** Where to tell of which events (D8.1, D8.2, D8.4): what every webhook has, and one that a ticket or request brings along. */

const mostAttached = 10;

const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type WebhookMethod = (typeof methods)[number];

interface Subscribed {
  readonly url: string;
  /** Without duplicates. */
  readonly events: readonly EventType[];
  readonly messages: MessageAudience;
  /** `null`: requests are not signed. */
  readonly secret: string | null;
}

/** A subscription that has been found good, with everything left out filled in. */
export type WebhookSubscription =
  | (Subscribed & {
      readonly kind: 'http';
      readonly method: WebhookMethod;
      readonly headers: Readonly<Record<string, string>>;
    })
  | (Subscribed & { readonly kind: 'apns' });

/** What attached and registered webhooks have alike; `webhookViolations` says what they cannot. */
export const webhookFields = {
  url: Type.String({
    maxLength: maxUrlLength,
    description: 'An http or https URL without user-info, or apns://<device_token>@<topic>?env=sandbox|production',
  }),
  method: Type.Unsafe<WebhookMethod>({
    ...oneOf(methods),
    uppercase: true,
    description: 'In any case. Required with http and https, not with apns',
  }),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: headerLimits.count,
    description: `With http and https only; ${headerLimits.bytes} bytes in all. A Content-Type must be a JSON type, and is sent instead of application/json`,
  }),
  events: list(oneOf(eventTypes), { minItems: 1 }),
};

const fields = {
  url: webhookFields.url,
  method: Type.Optional(webhookFields.method),
  headers: Type.Optional(webhookFields.headers),
  events: webhookFields.events,
  messages: Type.Optional(
    Type.Unsafe<MessageAudience>({
      ...oneOf(messageAudiences),
      description:
        'Whose messages it hears: own (those of the side that attached it, and their status), other (the messages of the other ' +
        "side, and the status of its own side's) or all. Left out: the site's attached_webhook_messages, which is own unless set",
    }),
  ),
  secret: Type.Optional(webhookSecret),
};

const webhookInput = checked(
  Type.Object(fields, { title: 'AttachedWebhook', additionalProperties: false }),
  webhookViolations,
);
export type WebhookInput = Type.Static<typeof webhookInput>;

export const attachedWebhooks = list(webhookInput, { maxItems: mostAttached });

/** Of input that has passed `webhookInput`. `usualMessages` is what a client means that does not say whose messages it wants. */
export function subscriptionOf(
  { url, method, headers = {}, events, messages: given, secret }: WebhookInput,
  usualMessages: MessageAudience,
): WebhookSubscription {
  const messages = given ?? usualMessages;
  const subscribed = { url, events: [...new Set(events)], messages, secret: secret ?? null };
  if (isApns(url)) return { kind: 'apns', ...subscribed };
  if (method === undefined) throw new Error('a webhook without a method has passed validation');
  return { kind: 'http', ...subscribed, method, headers };
}

/** What the schema cannot say. Fields of the wrong type are the schema's to report; null, where it may stand, is none. */
export function webhookViolations(value: unknown): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  const given = value as Partial<Record<keyof typeof fields, unknown>>;
  const isGiven = (name: keyof typeof fields): boolean => given[name] !== undefined && given[name] !== null;
  const headers = headerViolations(given.headers);
  const secret = secretViolations(given.secret);
  if (typeof given.url !== 'string') return [...headers, ...secret];
  const url = urlFaults(given.url).map((detail) => ({ attribute: '/url', detail }));
  switch (schemeOf(given.url)) {
    case 'http':
    case 'https':
      return [...url, ...headers, ...secret, ...(isGiven('method') ? [] : [required('/method')])];
    case 'apns':
      return [...url, ...onlyHttp.flatMap((name) => (isGiven(name) ? [foreign(name)] : []))];
    default:
      return [...url, ...headers, ...secret];
  }
}

/** A push notification has neither, and Apple is who signs for it. */
const onlyHttp = ['method', 'headers', 'secret'] as const;

function secretViolations(secret: unknown): Violation[] {
  const detail = typeof secret === 'string' ? secretFault(secret) : null;
  return detail === null ? [] : [{ attribute: '/secret', detail }];
}

function headerViolations(headers: unknown): Violation[] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return [];
  const all = Object.entries(headers);
  const size = headerSizeFault(all);
  return [
    ...(size === null ? [] : [{ attribute: '/headers', detail: size }]),
    ...all.flatMap((header) =>
      headerFaults(header, all).map((detail) => ({ attribute: headerPointer(header[0]), detail })),
    ),
  ];
}

function required(attribute: string): Violation {
  return { attribute, detail: 'is required with an http or https URL' };
}

function foreign(name: string): Violation {
  return { attribute: `/${name}`, detail: 'is not allowed with an apns URL' };
}

function urlFaults(url: string): readonly string[] {
  const character = characterFault(url);
  if (character !== null) return [character];
  switch (schemeOf(url)) {
    case 'http':
    case 'https':
      return [httpUrlFault(url) ?? []].flat();
    case 'apns': {
      const target = parseApnsUrl(url);
      return 'faults' in target ? target.faults : [];
    }
    default:
      return ['must be an http, https or apns URL, protocol included'];
  }
}
