import { version } from '../../version.ts';
import type { EventSchemas } from './model.ts';
import { messageName } from './operation-names.ts';
import { hoist, type Node } from './schemas.ts';

/** A document of AsyncAPI 3.0. */
export type AsyncDocument = Readonly<Record<string, unknown>>;

interface Message {
  readonly name: string;
  readonly payload: Node;
  readonly summary?: string;
  readonly examples?: readonly { readonly payload: unknown }[];
}

/** The AsyncAPI document of what Usher sends by itself: events to webhooks, and events and states over the live feed. */
export function asyncDocument({ events, feedItems }: EventSchemas): AsyncDocument {
  const schemas: Record<string, unknown> = {};
  const messages: Record<string, Message> = {};
  const add = (name: string, schema: unknown, more: Omit<Message, 'name' | 'payload'> = {}): void => {
    messages[messageName(name, schema)] = {
      name,
      ...more,
      payload: hoist(JSON.parse(JSON.stringify(schema)), schemas, 'AsyncAPI'),
    };
  };
  for (const [type, { trigger, schema, sample }] of Object.entries(events))
    add(type, schema, { summary: trigger, examples: [{ payload: sample }] });
  for (const [type, schema] of Object.entries(feedItems)) add(type, schema);
  const references = (types: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(messages)
        .filter(([, { name }]) => types.includes(name))
        .map(([name]) => [name, { $ref: `#/components/messages/${name}` }]),
    );
  const eventTypes = Object.keys(events);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Usher',
      version,
      description: 'What Usher sends by itself. openapi.json describes the requests that it answers.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { usher: { host: 'localhost:8080', protocol: 'http', description: 'Your server' } },
    channels: {
      webhooks: {
        address: '{webhook_url}',
        parameters: { webhook_url: { description: 'The URL of the webhook' } },
        description:
          'POST requests to the URL of each webhook that subscribes to the type: at least once, in order within an engagement, ' +
          'signed as Standard Webhooks describe.',
        messages: references(eventTypes),
      },
      feed: {
        address: '/feed',
        description:
          'GET /feed answers with Server-Sent Events: `event` is the name of the message, `data` its payload. With the last id as ' +
          '`Last-Event-ID`, the stream goes on where it ended.',
        messages: references([...eventTypes, ...Object.keys(feedItems)]),
      },
    },
    operations: {
      sendEvents: {
        action: 'send',
        channel: { $ref: '#/channels/webhooks' },
        summary: 'Send events to webhooks',
        security: [{ $ref: '#/components/securitySchemes/signature' }],
      },
      sendFeedItems: {
        action: 'send',
        channel: { $ref: '#/channels/feed' },
        summary: 'Stream events and states',
        security: [{ $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The token of an operator or a visitor' },
        signature: {
          type: 'httpApiKey',
          in: 'header',
          name: 'webhook-signature',
          description:
            'HMAC-SHA256 of `id.timestamp.body` with the secret of the webhook, as Standard Webhooks describe',
        },
      },
      messages,
      schemas,
    },
  };
}
