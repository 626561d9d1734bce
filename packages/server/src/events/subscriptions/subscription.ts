import { maxUrlLength } from '@usher/contract/limits';
import { messageAudiences, type MessageAudience } from '@usher/contract/states';
import { secretFault } from '@usher/contract/webhook-secret';
import { characterFault } from '@usher/contract/webhook-url';
import Type from 'typebox';
import type { Violation } from '../../platform/errors.ts';
import { checked, documented, list, oneOf } from '../../platform/schema.ts';
import type { Channel } from '../../channels/channel.ts';
import { channelFields, channelOf, channels, findChannel } from '../../channels/channels.ts';
import type { WebhookMethod } from '../../channels/http.ts';
import { eventTypes, type EventType } from '../catalogue.ts';
import { webhookSecret } from '../../channels/webhook-secret.ts';

/** Which events are sent where (D8.1, D8.2, D8.4): the fields and checks of all webhooks, and the schema of attached ones. */

const maxAttached = 10;

/** A validated subscription with all defaults filled in. */
export interface WebhookSubscription {
  readonly kind: string;
  readonly url: string;
  /** `method` and `headers` are set only if the channel has them. */
  readonly method?: WebhookMethod;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without duplicates. */
  readonly events: readonly EventType[];
  readonly messages: MessageAudience;
  /** `null`: requests are not signed. */
  readonly secret: string | null;
}

/** Fields that only some channels have. */
const channelSpecificFields = [...Object.keys(channelFields), 'secret'];

const attachable = channels.filter(({ isAttachable }) => isAttachable);

/** Fields of the schema of a registered webhook. `webhookViolations` checks what a schema cannot express. */
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
        'Whose messages the webhook is sent: own (those of the side that attached the webhook, and their status), other (those of the ' +
        'other side, and the status of the own messages) or all. Default: attached_webhook_messages of the site, which is own unless set',
    }),
  ),
  secret: Type.Optional(webhookSecret),
};

const webhookInput = documented(
  checked(Type.Object(fields, { title: 'AttachedWebhook', additionalProperties: false }), violationsAmong(attachable)),
  requiredByUrl(attachable),
);
export type WebhookInput = Type.Static<typeof webhookInput>;

export const attachedWebhooks = list(webhookInput, { maxItems: maxAttached });

/** The subscription for valid input. `defaultMessages` is used if the input has no `messages`. */
export function subscriptionOf(
  { url, method, headers = {}, events, messages: given, secret }: WebhookInput,
  defaultMessages: MessageAudience,
): WebhookSubscription {
  return {
    kind: channelOf(url).kind,
    url,
    ...(method === undefined ? {} : { method, headers }),
    events: [...new Set(events)],
    messages: given ?? defaultMessages,
    secret: secret ?? null,
  };
}

/** For openapi.json: the fields that a URL of each of these channels requires. `violationsAmong` refuses a webhook without them. */
export function requiredByUrl(allowed: readonly Channel[]): object {
  const rules = allowed
    .filter(({ requiredFields }) => requiredFields.length > 0)
    .map(({ schemes, requiredFields }) => ({
      if: { properties: { url: { type: 'string', pattern: `^(?:${schemes.join('|')}):` } }, required: ['url'] },
      // A null counts as absent.
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is a JSON Schema keyword; nothing awaits this object.
      then: {
        properties: Object.fromEntries(requiredFields.map((name) => [name, { not: { type: 'null' } }])),
        required: requiredFields,
        additionalProperties: true,
      },
    }));
  return rules.length === 1 ? (rules[0] ?? {}) : { allOf: rules };
}

/** Checks of a registered webhook, and of a new secret, that a schema cannot express. */
export const webhookViolations = violationsAmong(channels);

/**
 * Checks that a schema cannot express, for a webhook of one of these channels. The schema reports fields of a wrong type; a null
 * counts as absent.
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
  return [`must be an absolute ${schemes} URL`];
}

function channelViolations(channel: Channel, given: Readonly<Record<string, unknown>>): Violation[] {
  const isGiven = (name: string): boolean => given[name] !== undefined && given[name] !== null;
  const allowedFields = new Set([...Object.keys(channel.fields), ...(channel.unsigned === null ? ['secret'] : [])]);
  const notAllowed = channelSpecificFields.filter((name) => !allowedFields.has(name) && isGiven(name));
  return [
    ...channel.violations(given),
    ...(channel.unsigned === null ? secretViolations(given['secret']) : []),
    ...channel.requiredFields.flatMap((name) => (isGiven(name) ? [] : [fault(name, 'is required with', channel)])),
    ...notAllowed.map((name) => fault(name, 'is not allowed with', channel)),
  ];
}

function fault(name: string, what: string, { urlName }: Channel): Violation {
  return { attribute: `/${name}`, detail: `${what} ${urlName}` };
}

function secretViolations(secret: unknown): Violation[] {
  const detail = typeof secret === 'string' ? secretFault(secret) : null;
  return detail === null ? [] : [{ attribute: '/secret', detail }];
}
