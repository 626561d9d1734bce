import { isIP } from 'node:net';
import { natsUrlFault } from '@usher/contract/nats-url';
import Type from 'typebox';
import type { AddressGuard } from '../platform/outbound/address-guard.ts';
import type { Attempt } from './attempt.ts';
import type { Channel, ChannelContext, DestinationOrigin, OpenChannel, Send, StoredWebhook } from './channel.ts';
import { ruleOn } from './nats/answers.ts';
import { NatsConnection, type Reply } from './nats/connection.ts';
import { natsTarget, type NatsServer } from './nats/url.ts';
import { signedHeaders } from './signature.ts';
import { traceHeaders } from './trace-headers.ts';

interface NatsCredentials {
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

const credential = { type: 'string', minLength: 1, maxLength: 1_024 } as const;

/** Publishes one message per event to a JetStream subject; the stream acknowledges it. */
export const nats = {
  kind: 'nats',
  schemes: ['nats', 'tls'],
  urlName: 'a nats or tls URL',
  urlForm: 'nats://<host>:<port>/<subject>, over TLS tls://<host>:<port>/<subject>',
  // A receiver with a NATS server registers it once; there is no need to attach it to each ticket.
  isAttachable: false,
  fields: {
    credentials: Type.Unsafe<NatsCredentials>({
      type: 'object',
      properties: { user: credential, password: credential, token: credential },
      additionalProperties: false,
      description:
        'Only with nats and tls: user and password, or token. Never shown. If left out in an update, they are kept as long as ' +
        'scheme, host and port of the URL stay the same',
    }),
  },
  requiredFields: [],
  unsigned: null,
  // No answer of a NATS server ends a webhook, so this is never used.
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

/** Per destination, one connection for each set of credentials. At the limit the oldest is closed. */
const maxConnections = 16;

/** Webhooks with the same key share a connection. */
interface ConnectionKey {
  readonly key: string;
  readonly server: NatsServer;
  readonly guard: AddressGuard;
  readonly credentials: StoredWebhook['credentials'];
}

class NatsConnections implements OpenChannel {
  readonly #guards: ChannelContext['guards'];
  readonly #connections = new Map<DestinationOrigin, Map<string, NatsConnection>>();

  constructor({ guards }: ChannelContext) {
    this.#guards = guards;
  }

  senderFor({ id, url, source, credentials, keys }: StoredWebhook): Send {
    const { server, subject } = natsTarget(url);
    const access: ConnectionKey = {
      key: JSON.stringify([source, credentials]),
      server,
      guard: this.#guards[source],
      credentials,
    };
    // An IP address is not looked up, so the lookup cannot refuse it.
    const isForbidden = isIP(server.host) !== 0 && !access.guard.permits(server.host);
    return async (event, destination, answerMs): Promise<Attempt> => {
      const startedAt = performance.now();
      // The id is the same in every attempt, and differs between webhooks that publish to the same stream.
      const headers = { 'Nats-Msg-Id': `${id}.${event.id}`, 'Content-Type': 'application/json' };
      const message = {
        subject,
        headers: { ...headers, ...traceHeaders(event), ...signedHeaders(event, keys) },
        body: event.json,
      };
      const reply: Reply = isForbidden
        ? { kind: 'forbidden' }
        : await this.#connectionFor(access, destination).publish(message, answerMs);
      return { ...ruleOn(reply, subject), durationMs: Math.round(performance.now() - startedAt) };
    };
  }

  closeDestination(destination: DestinationOrigin): void {
    for (const connection of this.#connections.get(destination)?.values() ?? []) connection.close();
  }

  close(): void {
    for (const destination of this.#connections.keys()) this.closeDestination(destination);
  }

  #connectionFor({ key, server, guard, credentials }: ConnectionKey, destination: DestinationOrigin): NatsConnection {
    const connections = this.#connections.get(destination) ?? new Map<string, NatsConnection>();
    this.#connections.set(destination, connections);
    const existing = connections.get(key);
    if (existing !== undefined) return existing;
    const [oldest] = connections.values();
    if (connections.size >= maxConnections) oldest?.close();
    const connection = new NatsConnection({
      server,
      credentials,
      lookup: guard.lookupFor({ onlyAllowed: false, holder: destination.accountId }),
      onEnd: () => {
        connections.delete(key);
        if (connections.size === 0) this.#connections.delete(destination);
      },
    });
    connections.set(key, connection);
    return connection;
  }
}
