import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { Refusal } from '../platform/errors.ts';
import type { App } from '../platform/http/http.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const exposed = 'ETag, Location, Retry-After, X-Request-Id, Idempotency-Replayed, Preference-Applied';
const preflightSeconds = '600';

/**
 * Allows cross-origin requests by the sites' `allowed_origins`. A preflight carries no token, so it passes with an origin of
 * any site. The response itself is readable only from an origin of a site that the caller belongs to.
 */
export function preflightRoute(app: App, directory: Directory): void {
  app.options('*', { config: { access: { public: true } }, schema: { hide: true } }, async (request, reply) => {
    const { origin } = request.headers;
    const method = request.headers['access-control-request-method'];
    if (origin === undefined || method === undefined) {
      throw new Refusal(
        'malformed_request',
        'OPTIONS is only for preflight requests. Send Origin and Access-Control-Request-Method.',
      );
    }
    if (!(await directory.origins.get(origin))) throw unknownOrigin(origin);
    allowPreflight(request, reply, origin);
  });
}

/** Lets a page of an allowed origin read the response. */
export function allowCrossOrigin(directory: Directory): onSendHookHandler {
  return (request, reply, payload, done) => {
    const { origin } = request.headers;
    if (origin === undefined || request.method === 'OPTIONS') return done(null, payload);
    crossOriginHeaders(directory, request).then(
      (headers) => {
        const vary = reply.getHeader('vary');
        // The route may have set `Vary` already.
        reply.headers(vary === undefined ? headers : { ...headers, vary: `${String(vary)}, ${headers['vary']}` });
        done(null, payload);
      },
      // The database is unreachable. The response is sent without CORS headers, so a page cannot read it.
      () => done(null, payload),
    );
  };
}

function allowPreflight(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  reply.code(204).headers({
    vary: 'Origin, Access-Control-Request-Headers',
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? 'Authorization, Content-Type',
    'access-control-max-age': preflightSeconds,
  });
}

function unknownOrigin(origin: string): Refusal {
  return new Refusal('forbidden', `No site allows the origin ${origin}. Add it to the allowed_origins of a site.`);
}

/** Exported for responses that bypass Fastify's `onSend` hook. */
export async function crossOriginHeaders(
  directory: Directory,
  { headers: { origin }, caller }: FastifyRequest,
): Promise<Record<string, string>> {
  if (origin === undefined) return {};
  const allowed = await mayRead(directory, caller, origin);
  const readable = { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed };
  return { vary: 'Origin', ...(allowed ? readable : {}) };
}

/** Whether a page of this origin may read what the caller may read. */
export async function mayRead(directory: Directory, caller: Caller | undefined, origin: string): Promise<boolean> {
  if (caller === undefined || caller.kind === 'anonymous') return directory.origins.get(origin);
  const sites = caller.kind === 'operator' ? [...caller.roles.keys()] : [caller.siteId];
  for (const id of sites) {
    const cached = await directory.sites.get(id);
    if (cached?.site.allowed_origins.includes(origin) === true) return true;
  }
  return false;
}
