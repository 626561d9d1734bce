import { isIP } from 'node:net';
import { natsUrlFault } from '@usher/contract/nats-url';
import Type from 'typebox';
import type { Attempt } from './attempt.ts';
import type { Channel, ChannelContext, DestinationOrigin, OpenChannel, Send, StoredWebhook } from './channel.ts';
import { ruleOn } from './nats/answers.ts';
import { NatsConnection, type NatsMessage, type Reply } from './nats/connection.ts';
import { natsTarget } from './nats/url.ts';
import { signedHeaders } from './signature.ts';

interface NatsCredentials {
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

const credential = { type: 'string', minLength: 1, maxLength: 1_024 } as const;

/** A message to a JetStream subject for each event; the acknowledgement is the stream's. */
export const nats = {
  kind: 'nats',
  schemes: ['nats', 'tls'],
  urlName: 'a nats or tls URL',
  urlForm: 'nats://<host>:<port>/<subject>, over TLS tls://<host>:<port>/<subject>',
  // Whoever receives by a stream keeps a server for it, and registers that once.
  isAttachable: false,
  fields: {
    credentials: Type.Unsafe<NatsCredentials>({
      type: 'object',
      properties: { user: credential, password: credential, token: credential },
      additionalProperties: false,
      description:
        'With nats and tls only: user and password, or token. Never shown. Left out, they stay as long as scheme, host and port ' +
        'of the URL do',
    }),
  },
  requiredFields: [],
  unsigned: null,
  // No answer ends a webhook.
  endsBecause: 'gone',
  urlFaults: (url) => [natsUrlFault(url) ?? []].flat(),
  violations({ credentials }) {
    if (typeof credentials !== 'object' || credentials === null) return [];
    const names = Object.keys(credentials).toSorted().join(' ');
    if (names === 'password user' || names === 'token') return [];
    return [{ attribute: '/credentials', detail: 'must have user and password, or token' }];
  },
  originOf: (url) => natsTarget(url).origin,
  addressOf: (url) => new URL(natsTarget(url).origin.replace(/^[a-z]+/, 'http')),
  open: (context) => new NatsConnections(context),
} satisfies Channel;

/** To one destination: one for the credentials of each webhook. The least recently made is closed for another. */
const mostConnections = 16;

class NatsConnections implements OpenChannel {
  readonly #guards: ChannelContext['guards'];
  readonly #connections = new Map<DestinationOrigin, Map<string, NatsConnection>>();

  constructor({ guards }: ChannelContext) {
    this.#guards = guards;
  }

  senderFor(webhook: StoredWebhook): Send {
    const { subject } = natsTarget(webhook.url);
    // The same however often an event is sent; of other webhooks' events in the same stream another.
    const idOf = (eventId: string): string => `${webhook.id}.${eventId}`;
    return async (event, destination, answerMs): Promise<Attempt> => {
      const startedAt = performance.now();
      const signed = signedHeaders(event, webhook.keys);
      const headers = { 'Nats-Msg-Id': idOf(event.id), 'Content-Type': 'application/json', ...signed };
      const reply = await this.#publish(webhook, destination, { subject, headers, body: event.json }, answerMs);
      return { ...ruleOn(reply, subject), durationMs: Math.round(performance.now() - startedAt) };
    };
  }

  leave(destination: DestinationOrigin): void {
    for (const connection of [...(this.#connections.get(destination)?.values() ?? [])]) connection.close();
  }

  close(): void {
    for (const destination of [...this.#connections.keys()]) this.leave(destination);
  }

  async #publish(
    webhook: StoredWebhook,
    destination: DestinationOrigin,
    message: NatsMessage,
    answerMs: number,
  ): Promise<Reply> {
    const { host } = natsTarget(destination.origin).server;
    // A literal address is not looked up.
    if (isIP(host) !== 0 && !this.#guards[webhook.source].permits(host)) return { kind: 'forbidden' };
    return this.#connectionFor(webhook, destination).publish(message, answerMs);
  }

  #connectionFor({ source, credentials }: StoredWebhook, destination: DestinationOrigin): NatsConnection {
    const { accountId, origin } = destination;
    const key = JSON.stringify([source, credentials]);
    const connections = this.#connections.get(destination) ?? new Map<string, NatsConnection>();
    this.#connections.set(destination, connections);
    const known = connections.get(key);
    if (known !== undefined) return known;
    const [oldest] = connections.values();
    if (connections.size >= mostConnections) oldest?.close();
    const connection = new NatsConnection({
      server: natsTarget(origin).server,
      credentials,
      lookup: this.#guards[source].lookupFor({ onlyAllowed: false, holder: accountId }),
      onEnd: () => {
        connections.delete(key);
        if (connections.size === 0) this.#connections.delete(destination);
      },
    });
    connections.set(key, connection);
    return connection;
  }
}
