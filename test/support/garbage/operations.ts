import type { DeclaredAccess } from '../../../packages/server/src/identity/declared-access.ts';
import type { Cast } from '../api/cast.ts';
import type { CallerKind } from '../api/expected-access.ts';
import { makeTargets } from '../api/route-targets.ts';
import { validRequest } from '../api/valid-requests.ts';
import { call, type Json } from '../server.ts';
import type { Draft } from './draft.ts';
import type { Parameter } from './url-changes.ts';

/** An operation of openapi.json, or a route that openapi.json leaves out. */
export interface Operation {
  /** Such as `POST /queues`. */
  readonly name: string;
  readonly route: DeclaredAccess;
  /** The path with `{name}` for each parameter. */
  readonly pattern: string;
  readonly parameters: readonly Parameter[];
  /** `undefined` if it describes no JSON body. */
  readonly bodySchema: Json;
  /** The statuses that openapi.json declares; `null` for a route that it leaves out. */
  readonly declared: ReadonlySet<number> | null;
}

export interface Interface {
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Json>>;
}

export async function readInterface(cast: Cast): Promise<Interface> {
  const { body } = await call(cast.server, 'GET /openapi.json');
  const operations = cast.server.app.declaredAccess
    .filter(({ method }) => method !== 'HEAD')
    .map((route): Operation => {
      const pattern = route.url.replaceAll(/:(\w+)/g, '{$1}');
      const described: Json = body.paths[pattern]?.[route.method.toLowerCase()];
      return {
        name: `${route.method} ${pattern}`,
        route,
        pattern,
        parameters: described?.parameters ?? [],
        bodySchema: described?.requestBody?.content['application/json']?.schema,
        declared: described === undefined ? null : new Set(Object.keys(described.responses).map(Number)),
      };
    });
  return { operations, schemas: body.components.schemas };
}

/** A request that succeeds, and the visitor whom it is about. */
export interface Base {
  readonly kind: CallerKind;
  readonly draft: Draft;
  readonly visitorToken: string;
}

/** Makes objects for the request to name, and the request of a caller of this kind. Who sends it is left open. */
export async function makeBase(cast: Cast, { route }: Operation, kind: CallerKind): Promise<Base> {
  const targets = await makeTargets(cast, route, kind);
  const { path, query, body, headers } = await validRequest(cast, route, { kind, targets });
  const form = body instanceof FormData ? new Response(body) : null;
  const draft: Draft = {
    method: route.method,
    path,
    query: query === '' ? [] : query.slice(1).split('&'),
    headers: [
      ...Object.entries(headers),
      ...(form === null ? [] : [['content-type', form.headers.get('content-type') ?? ''] as const]),
    ],
    body: form === null ? body : Buffer.from(await form.arrayBuffer()),
  };
  return { kind, draft, visitorToken: targets.visitorToken };
}

/** The schema of a body that openapi.json does not describe, as far as a valid one shows it. */
export function schemaOfValue(value: unknown): Json {
  if (Array.isArray(value)) return { type: 'array', items: schemaOfValue(value[0]) };
  if (typeof value !== 'object' || value === null) return { type: typeof value };
  const properties = Object.entries(value).map(([name, member]) => [name, schemaOfValue(member)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
