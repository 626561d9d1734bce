import { maxUrlLength } from '@usher/contract/limits';
import { messageAudiences, type MessageAudience } from '@usher/contract/states';
import { secretFault } from '@usher/contract/webhook-secret';
import { characterFault } from '@usher/contract/webhook-url';
import Type from 'typebox';
import type { Violation } from '../platform/errors.ts';
import { checked, list, oneOf } from '../platform/schema.ts';
import type { Channel } from '../webhooks/channels/channel.ts';
import { channelFields, channelOf, channels, findChannel } from '../webhooks/channels/channels.ts';
import type { WebhookMethod } from '../webhooks/channels/http.ts';
import { eventTypes, type EventType } from './catalogue.ts';
import { webhookSecret } from '../webhooks/channels/webhook-secret.ts';

/** Where to tell of which events (D8.1, D8.2, D8.4): what every webhook has, and one that a ticket or request brings along. */

const mostAttached = 10;

/** A subscription that has been found good, with everything left out filled in. */
export interface WebhookSubscription {
  readonly kind: string;
  readonly url: string;
  /** With the channels that have it, as are headers. */
  readonly method?: WebhookMethod;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without duplicates. */
  readonly events: readonly EventType[];
  readonly messages: MessageAudience;
  /** `null`: requests are not signed. */
  readonly secret: string | null;
}

/** Fields that a webhook has only with some channels. */
const someChannelsFields = [...Object.keys(channelFields), 'secret'];

const attachable = channels.filter(({ isAttachable }) => isAttachable);

/** What the schema of a registered webhook is made of; `webhookViolations` says what it cannot. */
export const webhookFields = {
  url: urlOf(channels),
  ...channelFields,
  events: list(oneOf(eventTypes), { minItems: 1 }),
};

function urlOf(allowed: readonly Channel[]) {
  return Type.String({ maxLength: maxUrlLength, description: allowed.map(({ urlForm }) => urlForm).join(', or ') });
}

const fields = {
  url: urlOf(attachable),
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
  violationsAmong(attachable),
);
export type WebhookInput = Type.Static<typeof webhookInput>;

export const attachedWebhooks = list(webhookInput, { maxItems: mostAttached });

/** Of input that has passed `webhookInput`. `usualMessages` is what a client means that does not say whose messages it wants. */
export function subscriptionOf(
  { url, method, headers = {}, events, messages: given, secret }: WebhookInput,
  usualMessages: MessageAudience,
): WebhookSubscription {
  return {
    kind: channelOf(url).kind,
    url,
    ...(method === undefined ? {} : { method, headers }),
    events: [...new Set(events)],
    messages: given ?? usualMessages,
    secret: secret ?? null,
  };
}

/** What the schema cannot say of a registered webhook, and of the new secret of one. */
export const webhookViolations = violationsAmong(channels);

/**
 * What the schema cannot say of a webhook that is sent by one of these channels. Fields of the wrong type are the schema's to
 * report; null, where it may stand, is none.
 */
function violationsAmong(allowed: readonly Channel[]): (value: unknown) => Violation[] {
  return (value) => {
    if (typeof value !== 'object' || value === null) return [];
    const given: Readonly<Record<string, unknown>> = { ...value };
    const { url, secret } = given;
    const channel = typeof url === 'string' ? findChannel(url, allowed) : null;
    return [
      ...(typeof url === 'string' ? urlViolations(url, channel, allowed) : []),
      ...(channel === null
        ? [...allowed.flatMap((each) => each.violations(given)), ...secretViolations(secret)]
        : channelViolations(channel, given)),
    ];
  };
}

function urlViolations(url: string, channel: Channel | null, allowed: readonly Channel[]): Violation[] {
  return urlFaults(url, channel, allowed).map((detail) => ({ attribute: '/url', detail }));
}

function urlFaults(url: string, channel: Channel | null, allowed: readonly Channel[]): readonly string[] {
  const character = characterFault(url);
  if (character !== null) return [character];
  if (channel !== null) return channel.urlFaults(url);
  const schemes = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(allowed.flatMap((each) => each.schemes));
  return [`must be an ${schemes} URL, protocol included`];
}

function channelViolations(channel: Channel, given: Readonly<Record<string, unknown>>): Violation[] {
  const isGiven = (name: string): boolean => given[name] !== undefined && given[name] !== null;
  const taken = [...Object.keys(channel.fields), ...(channel.unsigned === null ? ['secret'] : [])];
  const foreign = someChannelsFields.filter((name) => !taken.includes(name) && isGiven(name));
  return [
    ...channel.violations(given),
    ...(channel.unsigned === null ? secretViolations(given['secret']) : []),
    ...channel.requiredFields.flatMap((name) => (isGiven(name) ? [] : [fault(name, 'is required with', channel)])),
    ...foreign.map((name) => fault(name, 'is not allowed with', channel)),
  ];
}

function fault(name: string, what: string, { urlName }: Channel): Violation {
  return { attribute: `/${name}`, detail: `${what} ${urlName}` };
}

function secretViolations(secret: unknown): Violation[] {
  const detail = typeof secret === 'string' ? secretFault(secret) : null;
  return detail === null ? [] : [{ attribute: '/secret', detail }];
}
