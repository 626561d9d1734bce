import swagger from '@fastify/swagger';
import type { App } from '../../http/http.ts';
import { problemSchema } from '../../http/problem.ts';
import { version } from '../../version.ts';
import { completeOperation, type SharedResponses } from './complete-operation.ts';
import type { ApiDocument, ApiOperation, EventSchemas } from './model.ts';
import { readExamples } from '../api-examples.ts';
import { hoist, union, type Node } from './schemas.ts';
import { tags } from './tags.ts';
import { messageName, rankOf } from './operation-names.ts';

/** Must be registered before the routes it describes. */
export async function describeRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Usher',
        version,
        description:
          'Queues, routing and engagements between visitors and operators, and webhooks that report events. ' +
          'An unknown field or query parameter is refused with 422. Read-only fields of a response may be sent back in a POST or ' +
          'PUT and are ignored. With `Prefer: handling=lenient` (RFC 7240), or if the site has `lenient_requests`, all unknown ' +
          'fields are ignored, and the response has `Preference-Applied: handling=lenient`. ' +
          'Lists in a query: `site_ids[]=a&site_ids[]=b`, `site_ids[0]=a&site_ids[1]=b`, `site_ids=a,b`. The query parameter `_` ' +
          'is ignored.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A signed token valid for one hour (visitors: 24 hours), or a long-lived access token of an operator. `Token <token>` is equivalent.',
          },
          application: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: '`ApplicationToken <token>`',
          },
        },
      },
    },
  });
}

/** The OpenAPI document of all routes and webhooks. Call it after all routes are registered. */
export function apiDocument(app: App, { events, feedItems }: EventSchemas): ApiDocument {
  const raw = JSON.parse(JSON.stringify(app.swagger())) as Omit<ApiDocument, 'components'> & {
    readonly components: Readonly<Record<string, unknown>>;
  };
  const schemas: Record<string, unknown> = {};
  hoist(copy(problemSchema), schemas);
  const responses: SharedResponses = {};
  const paths = hoist(describePaths(raw.paths, responses), schemas);
  const webhooks = hoist(describeWebhooks(events), schemas);
  schemas['WebhookEvent'] = union(
    Object.values(events).map(({ schema }) => hoist(copy(schema), schemas)),
    schemas,
  );
  referTo(schemas, 'LoggedEvent', 'event');
  schemas['FeedItem'] = feedItemSchema({ events, feedItems }, schemas);
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    openapi: '3.1.0',
    info: raw.info,
    servers: [{ url: app.pathPrefix === '' ? '/' : app.pathPrefix, description: 'The server of this document' }],
    tags,
    components: { ...raw.components, responses, schemas: sorted },
    paths,
    webhooks,
  } as unknown as ApiDocument;
}

/** The operations by path and method, in the order of the reference. */
function describePaths(raw: ApiDocument['paths'], responses: SharedResponses): Node {
  const examples = readExamples();
  const operations = Object.entries(raw)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([name, operation]) => ({ path, method: name.toUpperCase(), operation })),
    )
    // Every GET has a HEAD, which needs no description.
    .filter(({ method }) => method !== 'HEAD')
    .toSorted((a, b) => rankOf(a.method, a.path) - rankOf(b.method, b.path));
  const paths: Record<string, Record<string, ApiOperation>> = {};
  for (const { path, method, operation } of operations) {
    const example = examples[`${method} ${path}`];
    const described = completeOperation({ method, path, operation, example }, responses);
    (paths[path] ??= {})[method.toLowerCase()] = described;
  }
  return paths;
}

/** The routes do not know the catalogue of events, so the schema of a logged event says only that it is an object. */
function referTo(schemas: Record<string, unknown>, name: string, field: string): void {
  const { properties } = (schemas[name] ?? {}) as { properties?: Record<string, { description?: string }> };
  const described = properties?.[field];
  if (properties === undefined || described === undefined) throw new Error(`${name} has no field ${field}`);
  const { description = '' } = described;
  Object.assign(properties, { [field]: { $ref: '#/components/schemas/WebhookEvent', description } });
}

function copy(schema: unknown): Node {
  return JSON.parse(JSON.stringify(schema)) as Node;
}

function describeWebhooks(events: EventSchemas['events']): Node {
  return Object.fromEntries(
    Object.entries(events).map(([type, { trigger, schema, sample }]) => {
      const post = {
        operationId: `on${messageName(type, schema)}`,
        tags: ['Webhooks'],
        summary: trigger,
        security: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: copy(schema), example: sample } },
        },
        responses: {
          '2XX': { description: 'Received. Any 2xx will do.' },
          '410': { description: 'Gone: the webhook is disabled, and its waiting deliveries are held.' },
          '4XX': { description: 'Failed. The delivery is repeated later, as after any other answer.' },
        },
      };
      return [type, { post }];
    }),
  );
}

/** One schema for each type of item, and their union. */
function feedItemSchema({ events, feedItems }: EventSchemas, schemas: Record<string, unknown>): unknown {
  const types: Record<string, unknown> = {
    ...feedItems,
    ...Object.fromEntries(Object.entries(events).map(([type, { schema }]) => [type, schema])),
  };
  const items = Object.entries(types).map(([type, data]) => {
    const item = {
      title: `${messageName(type, data)}Item`,
      type: 'object',
      required: ['type', 'data'],
      properties: { type: { type: 'string', const: type }, data: copy(data) },
    };
    return hoist(item, schemas);
  });
  return union(items, schemas, 'An item of the live feed: `type` is the `event` field of the stream, `data` is JSON.');
}
