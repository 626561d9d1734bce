import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { mayRead } from '../identity/cors.ts';
import type { Directory } from '../identity/directory.ts';
import { Refusal } from '../platform/errors.ts';
import type { App } from '../platform/http/http.ts';
import type { Log } from '../platform/log.ts';
import { addressOf } from '../platform/http/paging.ts';
import { createMcpServer } from './create-server.ts';
import type { CallApi } from './tool-api.ts';

interface McpOptions {
  readonly directory: Directory;
  readonly log: Log;
  readonly publicUrl: string;
}

/**
 * Streamable HTTP without sessions: each POST has its own server, so any process can answer it. A tool sends requests to this app with
 * the caller's own token, so that authentication, limits, roles, validation and audit are those of the API.
 */
export function mcpRoute(app: App, { directory, log, publicUrl }: McpOptions): void {
  const publicOrigin = publicUrl === '' ? null : new URL(publicUrl).origin;
  app.post(
    '/mcp',
    {
      // The route itself changes nothing: its tools send requests of their own, which are audited and send their hints.
      config: { access: { operator: 'operator', site: 'none' }, readOnly: true },
      schema: { hide: true },
      onRequest: async (request) => refuseForeignOrigin(request, directory, publicOrigin),
      // RFC 9728: a client without a token is sent to the description of what /mcp needs.
      onSend: async (request, reply) => {
        const address = addressOf(request, `${metadataPath}/mcp`);
        if (reply.statusCode === 401) reply.header('www-authenticate', `Bearer resource_metadata="${address}"`);
      },
    },
    async (request, reply) => {
      if (Array.isArray(request.body))
        throw new Refusal('malformed_request', 'Send one JSON-RPC message per request, not a batch.');
      const onError = (error: unknown): void => log.error({ err: error, request_id: request.id }, 'an MCP tool failed');
      const callApi = callApp(app, request);
      const handler = createMcpHandler(() => createMcpServer({ callApi, onError }), {
        // A subscription would be a response that never ends, about a list of tools that never changes.
        maxSubscriptions: 0,
      });
      const response = await handler.fetch(webRequestOf(request), { parsedBody: request.body });
      reply.code(response.status);
      const type = response.headers.get('content-type');
      if (type !== null) reply.header('content-type', type);
      return response.text();
    },
  );
}

const metadataPath = '/.well-known/oauth-protected-resource';

/**
 * OAuth 2.0 Protected Resource Metadata (RFC 9728), where clients of MCP look for an authorization server. There is none: tokens are
 * made by operators, and the metadata says only that they are sent in the header, and where that is documented.
 */
export function metadataRoutes(app: App): void {
  for (const path of [metadataPath, `${metadataPath}/mcp`])
    app.get(path, { config: { access: { public: true } }, schema: { hide: true } }, async (request) => ({
      resource: addressOf(request, '/mcp'),
      resource_name: 'Usher',
      bearer_methods_supported: ['header'],
      resource_documentation: addressOf(request, '/docs'),
    }));
}

/**
 * Against DNS rebinding: a page that a browser shows may call `/mcp` only from an origin that is known. The host of the request proves
 * nothing, because the page chose it. Programs send no origin.
 */
async function refuseForeignOrigin(
  request: FastifyRequest,
  directory: Directory,
  publicOrigin: string | null,
): Promise<void> {
  const { origin } = request.headers;
  if (origin === undefined || origin === publicOrigin || (await mayRead(directory, request.caller, origin))) return;
  throw new Refusal(
    'cross_origin',
    'A page of this origin must not use /mcp. Add the origin to the allowed_origins of one of your sites, or use a program.',
  );
}

function callApp(app: App, request: FastifyRequest): CallApi {
  const { authorization, traceparent } = request.headers;
  return async ({ method, path, body, ifMatch }) => {
    const headers = {
      'x-request-id': request.id,
      ...(authorization === undefined ? {} : { authorization }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const answer = await app.inject({ method, url: path, remoteAddress: request.ip, headers, ...payload });
    const { etag, 'retry-after': retryAfter } = answer.headers;
    return {
      status: answer.statusCode,
      body: answer.payload === '' ? null : answer.json(),
      etag: typeof etag === 'string' ? etag : null,
      retryAfterSec: retryAfter === undefined ? null : Number(retryAfter),
    };
  };
}

/** What the protocol reads of the request. The token stays out of it; the body is passed on as it was parsed. */
function webRequestOf({ headers }: FastifyRequest): Request {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && (name.startsWith('mcp-') || name === 'accept' || name === 'content-type')
      ? [[name, value]]
      : [],
  );
  return new Request('http://localhost/mcp', { method: 'POST', headers: kept });
}
