import type { IncomingMessage } from 'node:http';
import type { App } from './http.ts';

/**
 * Other forms in which existing clients send a request. Each is rewritten to its operation before routing, so that an alias has
 * the validation, permissions, audit, idempotency and rate limits of the operation, and no second handler.
 *
 * To add an alias, add a line: both sides as `METHOD /path/:parameter`, with the same parameters in the same order.
 */
export const aliases: readonly { readonly from: string; readonly to: string }[] = [
  { from: 'POST /operators/:operator_id', to: 'PATCH /operators/:operator_id' },
  { from: 'POST /router/outbound_sms', to: 'POST /outbound_sms' },
];

interface CompiledAlias {
  /** The path before the first parameter, which rules out most requests. */
  readonly prefix: string;
  readonly segments: readonly string[];
  readonly method: string;
  readonly target: readonly string[];
}

const byMethod = new Map<string, CompiledAlias[]>();
for (const { from, to } of aliases) {
  const [method = '', path = ''] = from.split(' ', 2);
  const [targetMethod = '', targetPath = ''] = to.split(' ', 2);
  const compiled = {
    prefix: path.split(':', 1)[0] ?? '',
    segments: path.split('/'),
    method: targetMethod,
    target: targetPath.split('/'),
  };
  byMethod.set(method, [...(byMethod.get(method) ?? []), compiled]);
}

/** For Fastify's `rewriteUrl`: returns the URL of the operation and changes the method of the request. */
export function rewriteAlias(request: IncomingMessage): string {
  const { method = '' } = request;
  const url = withSingleSlashes(request.url ?? '/');
  for (const alias of byMethod.get(method) ?? []) {
    if (!url.startsWith(alias.prefix)) continue;
    const rewritten = rewrite(alias, url);
    if (rewritten === null) continue;
    request.method = alias.method;
    return rewritten;
  }
  return url;
}

/** Programs that join a base URL with a final slash and a path with a first one send `//operators`. Parameters stay as they are. */
function withSingleSlashes(url: string): string {
  // A proxy may send an absolute URL, whose scheme ends with two slashes.
  if (!url.includes('//') || !url.startsWith('/')) return url;
  const end = url.includes('?') ? url.indexOf('?') : url.length;
  return url.slice(0, end).replaceAll(/\/{2,}/g, '/') + url.slice(end);
}

function rewrite({ segments, target }: CompiledAlias, url: string): string | null {
  const end = url.includes('?') ? url.indexOf('?') : url.length;
  const given = url.slice(0, end).split('/');
  const fits = given.length === segments.length && segments.every((segment, at) => fitsSegment(segment, given[at]));
  if (!fits) return null;
  const parameters = given.filter((_, at) => isParameter(segments[at]));
  const path = target.map((segment) => (isParameter(segment) ? parameters.shift() : segment));
  return `${path.join('/')}${url.slice(end)}`;
}

function fitsSegment(segment: string, given: string | undefined): boolean {
  return isParameter(segment) ? given !== '' : segment === given;
}

function isParameter(segment: string | undefined): boolean {
  return segment?.startsWith(':') === true;
}

/** Lists the aliases of each operation in its description. */
export function describeAliases(app: App): void {
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (schema === undefined) return;
    const own = aliases.filter(({ to }) => to === `${String(method)} ${url}`).map(({ from }) => from);
    if (own.length === 0) return;
    const names = own.map((from) => from.replaceAll(/:(\w+)/g, '{$1}')).join(', ');
    describe(schema, `Alias: ${names}.`);
  });
}

/** Adds a sentence to the description of an operation. */
function describe(schema: { description?: string }, sentence: string): void {
  schema.description = schema.description === undefined ? sentence : `${schema.description} ${sentence}`;
}

/**
 * A body with an action, such as `{"action": "end"}`, may instead be sent in the query, as
 * `PATCH /engagements/{engagement_id}?action=end`. The fields are moved into the body before validation. This applies to every
 * operation whose body has an `action` with a fixed set of values.
 */
export function acceptActionsInQuery(app: App): void {
  app.addHook('onRoute', (route) => {
    const fields = fieldsOfAction(route.schema?.body);
    if (route.schema === undefined || fields === null) return;
    describe(route.schema, 'Without a body, the fields may be sent in the query, as in ?action=….');
    const others = route.preValidation === undefined ? [] : [route.preValidation].flat();
    route.preValidation = [
      (request, _reply, done) => {
        const query = request.query as Record<string, unknown>;
        if ('action' in query && isEmpty(request.body)) {
          const moved = (name: string): boolean => fields.includes(name);
          const entries = Object.entries(query);
          request.body = Object.fromEntries(entries.filter(([name]) => moved(name)));
          request.query = Object.fromEntries(entries.filter(([name]) => !moved(name)));
        }
        done();
      },
      ...others,
    ];
  });
}

/** `null` if the body has no action. */
function fieldsOfAction(body: unknown): readonly string[] | null {
  const { properties } = (body ?? {}) as { properties?: Record<string, { enum?: unknown }> };
  return Array.isArray(properties?.['action']?.enum) ? Object.keys(properties) : null;
}

function isEmpty(body: unknown): boolean {
  return body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
}
