import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { parse as parseQuery } from 'node:querystring';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import { acceptActionsInQuery, aliases, describeAliases, rewriteAlias } from './aliases.ts';
import type { Sql } from '../database/database.ts';
import type { DiskSpace } from '../embedded/disk-watch.ts';
import { Refusal } from '../errors.ts';
import type { App, TypeBoxProvider } from './http.ts';
import type { Log } from '../log.ts';
import { installRequestChecks } from './check-request.ts';
import { isReceiving } from './multipart.ts';
import { installPathPrefix } from './path-prefix.ts';
import { diskFull, problemOf, problemSchema, problemType, refusalOf } from './problem.ts';
import { setSql } from './request-transaction.ts';
import { dataHeaders } from './security-headers.ts';
import { serializerCompiler } from './serialization.ts';
import { dropPorts, trustOf } from './trusted-proxies.ts';
import { refuseUnsafe, validatorCompiler } from './validation.ts';
import { warnOfProxy } from './warn-of-proxy.ts';

const bodyLimit = 1024 * 1024;
/** Time limits for a request to arrive, and for its headers, so that half-open sockets are closed. */
const requestTimeoutMs = 30_000;
const headersTimeoutMs = 15_000;
/** A socket without traffic for this time is closed. A live feed sends a heartbeat every 15 s. */
const idleSocketMs = 120_000;
const maxHeaderBytes = 16_384;

interface HttpOptions {
  readonly log: Log;
  readonly sql: Sql;
  readonly diskSpace?: DiskSpace | null;
  readonly trustProxy: Config['trustProxy'];
  readonly publicUrl?: string;
}

/** Creates the Fastify app with what all routes share; the rooms add their routes. */
export function createApp({ log, sql, diskSpace = null, trustProxy, publicUrl = '' }: HttpOptions): App {
  const handleError = createErrorHandler(log, diskSpace);
  const app: App = fastify({
    // request-log.ts logs requests and `handleError` logs errors. A logger in Fastify would be a new one for each request, at a
    // tenth of the cost of a read.
    logger: false,
    trustProxy: trustOf(trustProxy),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleSocketMs,
    keepAliveTimeout: 72_000,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 5_000,
      // Node would answer without a body. The first hook refuses such a request.
      requireHostHeader: false,
      // The stream of a request without a body has ended before it is read, which is cheaper: see `dropContentType`.
      optimizeEmptyRequests: true,
    },
    genReqId: requestId,
    requestIdHeader: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 255, querystringParser: parseArrays },
    rewriteUrl: rewriteAlias,
    frameworkErrors: handleError,
    clientErrorHandler: answerUnparsable,
    exposeHeadRoutes: true,
  }).withTypeProvider<TypeBoxProvider>();

  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(handleError);
  installPathPrefix(app, publicUrl);
  acceptJson(app);
  acceptActionsInQuery(app);
  describeAliases(app);
  installRequestChecks(app);
  refuseUnknownRoutes(app);
  app.addHook('onRoute', (route) => {
    if (route.schema !== undefined)
      route.schema.response = { ...(route.schema.response as object), '4xx': problemSchema, '5xx': problemSchema };
  });
  const headers = dataHeaders();
  const checkProxy = trustProxy === false ? warnOfProxy(log) : dropPorts;
  app.addHook('onRequest', (request, reply, done) => {
    checkProxy(request.raw.headers);
    if (request.method !== 'GET') dropContentType(request.raw.headers);
    setSql(request, sql);
    latestReplies.set(request.raw.socket, reply);
    reply.headers(headers).header('x-request-id', request.id);
    if (request.url.includes('%00')) return done(new Refusal('malformed_request', 'The URL must not contain NUL.'));
    // RFC 9112, section 3.2.
    if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(new Refusal('malformed_request', 'A request of HTTP/1.1 needs a Host header.'));
    return done();
  });
  ignoreExpectations(app);
  return app;
}

/** RFC 9110, section 10.1.1: an `Expect` other than `100-continue` may be ignored. Node would answer 417 without a body. */
function ignoreExpectations(app: App): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}

/** Unique per process. Appending a counter costs a tenth of a random id per request. */
const idPrefix = randomUUID().slice(0, 18);
let idCount = 0;

/** The caller's request id if it is safe to repeat, otherwise a new one. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `${idPrefix}-${(idCount += 1)}`;
}

/**
 * D7.8: `a[]=1&a[]=2`, `a[0]=1&a[1]=2` and `a=1` are all lists if the schema says so; the brackets are removed. No id contains a
 * comma, so lists of ids may also be written `site_ids=1,2`. `_` is a cache buster and is ignored.
 */
function parseArrays(query: string): Record<string, unknown> {
  if (query === '') return {};
  const parsed = parseQuery(query);
  const fields: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(parsed)) {
    const field = name.endsWith(']') ? name.replace(/^([^[\]]+)\[\d{0,4}\]$/, '$1') : name;
    if (field === '__proto__' || field === '_') continue;
    const value = field.endsWith('_ids') ? splitIds(given) : given;
    fields[field] = field in fields ? [fields[field], value].flat() : value;
  }
  return fields;
}

function splitIds(given: string | string[] | undefined): string | string[] | undefined {
  if (typeof given === 'string') return given.includes(',') ? given.split(',') : given;
  return given?.flatMap((each) => each.split(','));
}

/** Accepts JSON under any of its content types. A request without a body counts as `{}` (D7.8). */
function acceptJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json\b/i, { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  acceptEmptyForms(app);
  app.addHook('onRoute', (route) => {
    if (route.schema?.body === undefined) return;
    const before = route.preValidation === undefined ? [] : [route.preValidation].flat();
    route.preValidation = [emptyBody, ...before];
  });
}

/**
 * A request without a body does not need a parser, whatever content type it has. A parser would wait for the end of a stream that
 * has ended (`optimizeEmptyRequests`).
 */
function dropContentType(headers: IncomingHttpHeaders): void {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (!hasBody) delete headers['content-type'];
}

/** Many HTTP clients send this content type with an empty POST. A form with content is refused. */
function acceptEmptyForms(app: App): void {
  const type = 'application/x-www-form-urlencoded';
  app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0 || request.is404) return done(null, undefined);
    done(new Refusal('unsupported_media_type', 'Send the body as application/json.'));
  });
}

function emptyBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.body === undefined) request.body = {};
  done();
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw new Refusal('malformed_json', 'The body is not valid UTF-8.');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new Refusal(
      'malformed_json',
      `The body is not valid JSON: ${cause instanceof Error ? cause.message : 'unreadable'}.`,
    );
  }
  refuseUnsafe(value);
  return value;
}

/** While the disk is full, `database_unavailable` is reported as `insufficient_storage`, its cause. */
function createErrorHandler(
  log: Log,
  diskSpace: DiskSpace | null,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const found = refusalOf(error);
    const refusal = found.code === 'database_unavailable' && diskSpace?.isFull === true ? diskFull() : found;
    if (refusal.code === 'internal_error') log.error({ err: error, request_id: request.id }, 'internal error');
    if (found.code === 'database_unavailable') log.warn({ err: error, request_id: request.id }, 'database unavailable');
    request.refusedWith = refusal.code;
    const problem = problemOf(refusal, request.id);
    void reply.code(problem.status).headers(refusal.headers).type(problemType).send(problem);
  };
}

/** The reply to the latest request of a socket. */
const latestReplies = new WeakMap<Socket, FastifyReply>();
/** Sockets that are refused when the reply before is finished. More bytes on them change nothing. */
const refusedSockets = new WeakSet<Socket>();

/**
 * A message that Node cannot parse as HTTP has no request and no reply, so the response is written to the socket. If the message came
 * behind a complete request, that one is answered first: a sender that gets 400 may send the request again.
 */
function answerUnparsable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isReceiving(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error);
  // The socket sent nothing, so it gets no response: thousands of such sockets may end at once, and responses would delay others.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return void socket.destroy();
  const before = latestReplies.get(socket);
  if (before?.request.raw.complete === true && !before.raw.writableFinished) {
    if (!refusedSockets.has(socket)) before.raw.once('finish', () => answerUnparsable(error, socket));
    refusedSockets.add(socket);
    return;
  }
  const refusal = unparsable(error.code);
  const body = JSON.stringify(problemOf(refusal, `${idPrefix}-${(idCount += 1)}`));
  const status = problemOf(refusal, '').status;
  const head = `HTTP/1.1 ${status} ${refusal.code}\r\ncontent-type: ${problemType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body);
}

function unparsable(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal('headers_too_large', `The headers must not exceed ${maxHeaderBytes} bytes.`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Refusal('request_timeout', 'The request did not arrive in time. Send it again.');
  return new Refusal('malformed_request', 'The request is not valid HTTP/1.1.');
}

/** Answers 404, or 405 with `Allow` if the path exists for other methods. */
function refuseUnknownRoutes(app: App): void {
  const methods = new Map<string, { shape: RegExp; allowed: Set<string> }>();
  const allow = (url: string, method: string): void => {
    const pattern = url.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/:[^/]+/g, '[^/]+');
    const route = methods.get(url) ?? { shape: new RegExp(`^${pattern}$`), allowed: new Set() };
    route.allowed.add(method);
    methods.set(url, route);
  };
  app.addHook('onRoute', ({ url, method }) => {
    if (url !== '*') for (const each of [method].flat()) allow(url, each);
  });
  for (const { from } of aliases) {
    const [method = '', url = ''] = from.split(' ', 2);
    allow(url, method);
  }
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = [...methods.values()]
      .filter(({ shape }) => shape.test(path))
      .flatMap((route) => [...route.allowed]);
    if (allowed.length === 0)
      throw new Refusal('not_found', `No resource has the path ${path}. See /docs for all paths.`);
    const list = [...new Set(allowed)].toSorted().join(', ');
    throw new Refusal('method_not_allowed', `${request.method} is not allowed here. Allowed: ${list}.`, {
      headers: { allow: list },
    });
  });
}
