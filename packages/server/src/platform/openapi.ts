import swagger from '@fastify/swagger';
import type { App } from './http.ts';

/** The part of an OpenAPI 3.1 document that Usher uses. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  readonly webhooks: Readonly<Record<string, { readonly post: ApiOperation }>>;
}

export interface ApiOperation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-access'?: string;
  readonly parameters?: readonly {
    in: string;
    name: string;
    required?: boolean;
    description?: string;
    schema: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: unknown }>> };
  readonly responses: Readonly<
    Record<string, { description?: string; content?: Readonly<Record<string, { schema: unknown }>> }>
  >;
}

/** Must be registered before the routes it describes. */
export async function describeRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Usher',
        version: '0.1.0',
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

/** The OpenAPI document of all routes and webhooks, with named schemas as components. Call it after all routes are registered. */
export function apiDocument(app: App, webhooks: ApiDocument['webhooks']): ApiDocument {
  const raw = JSON.parse(JSON.stringify(app.swagger())) as Record<string, unknown> & {
    components: Record<string, unknown>;
  };
  const schemas: Record<string, unknown> = {};
  const paths = hoist(withoutHead(raw['paths']), schemas);
  const hoisted = hoist(JSON.parse(JSON.stringify(webhooks)), schemas);
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    ...raw,
    paths,
    components: { ...raw.components, schemas: sorted },
    webhooks: hoisted,
  } as unknown as ApiDocument;
}

/** Keywords of `validation.ts` that JSON Schema does not have. */
const ownKeywords: ReadonlySet<string> = new Set(['lowercase', 'uppercase', 'absentIfNull']);

/** Moves every schema with a title to the components and replaces it by a reference. */
function hoist(node: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((child) => hoist(child, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const fields = Object.entries(node)
    .filter(([field]) => !ownKeywords.has(field))
    .map(([field, value]) => [field, hoist(value, schemas)] as const);
  const copy: Record<string, unknown> = Object.fromEntries(fields);
  const { title, ...schema } = copy;
  if (typeof title !== 'string' || !('type' in copy)) return copy;
  if (title in schemas && JSON.stringify(schemas[title]) !== JSON.stringify(schema)) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}

/** Every GET has a HEAD, which needs no description. */
function withoutHead(paths: unknown): unknown {
  const entries = Object.entries(paths as Record<string, Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([path, operations]) => [
      path,
      Object.fromEntries(Object.entries(operations).filter(([method]) => method !== 'head')),
    ]),
  );
}
