import { headerFaults, headerLimits, headerPointer, headerSizeFault } from '@usher/contract/webhook-headers';
import { httpUrlFault } from '@usher/contract/webhook-url';
import Type from 'typebox';
import { oneOf } from '../platform/schema.ts';
import type { Channel, ChannelContext, DestinationOrigin, OpenChannel, Send, StoredWebhook } from './channel.ts';
import { WebhookConnectors } from './http/connectors.ts';
import { requestsFor } from './http/request.ts';
import { HttpSender } from './http/sender.ts';

const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type WebhookMethod = (typeof methods)[number];

/** Sends one signed request per event; any 2xx is an acknowledgement. */
export const http = {
  kind: 'http',
  schemes: ['http', 'https'],
  urlName: 'an http or https URL',
  urlForm: 'An http or https URL without user-info',
  isAttachable: true,
  fields: {
    method: Type.Unsafe<WebhookMethod>({
      ...oneOf(methods),
      uppercase: true,
      description: 'Upper or lower case. Required with http and https, not allowed otherwise',
    }),
    headers: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      maxProperties: headerLimits.count,
      description: `Only with http and https; ${headerLimits.bytes} bytes in total. A Content-Type must be a JSON type; it replaces application/json`,
    }),
  },
  requiredFields: ['method'],
  unsigned: null,
  endsBecause: 'gone',
  urlFaults: (url) => [httpUrlFault(url) ?? []].flat(),
  violations({ headers }) {
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return [];
    const all = Object.entries(headers);
    const size = headerSizeFault(all);
    return [
      ...(size === null ? [] : [{ attribute: '/headers', detail: size }]),
      ...all.flatMap((header) =>
        headerFaults(header, all).map((detail) => ({ attribute: headerPointer(header[0]), detail })),
      ),
    ];
  },
  originOf: (url) => new URL(url).origin,
  addressOf: (url) => new URL(url),
  open: (context) => new HttpSenders(context),
} satisfies Channel;

class HttpSenders implements OpenChannel {
  readonly #connectors: WebhookConnectors;
  /** Two per destination: an attached webhook must not use the connection of a registered one, which may go to other addresses. */
  readonly #senders = {
    registered: new Map<DestinationOrigin, HttpSender>(),
    attached: new Map<DestinationOrigin, HttpSender>(),
  };

  constructor({ guards }: ChannelContext) {
    this.#connectors = new WebhookConnectors(guards);
  }

  senderFor({ url, method, headers, keys, source }: StoredWebhook): Send {
    if (method === null) throw new Error('the stored webhook has no method');
    const requestOf = requestsFor({ method, url: new URL(url), headers, keys });
    return (event, destination, answerMs) => this.#senderTo(destination, source).send(requestOf(event), answerMs);
  }

  closeDestination(destination: DestinationOrigin): void {
    for (const senders of Object.values(this.#senders)) {
      senders.get(destination)?.close();
      senders.delete(destination);
    }
  }

  close(): void {
    for (const senders of Object.values(this.#senders)) for (const sender of senders.values()) sender.close();
  }

  #senderTo(destination: DestinationOrigin, source: StoredWebhook['source']): HttpSender {
    const existing = this.#senders[source].get(destination);
    if (existing !== undefined) return existing;
    const sender = new HttpSender(destination.origin, this.#connectors.for(destination.accountId, source));
    this.#senders[source].set(destination, sender);
    return sender;
  }
}
