import type { Socket } from 'node:net';
import { atLeast, type Role } from '@usher/contract/roles';
import type {
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteOptions,
} from 'fastify';
import { notFound, Refusal, invalid } from '../platform/errors.ts';
import type { App } from '../platform/http/http.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';
import type { ForRoute } from '../platform/http/request-path.ts';
import { addressKey, type AddressRate, type RateLimit } from '../platform/limits/rate-limit.ts';
import type { Authenticator } from './authenticate.ts';
import { hasRoleAnywhere, isFromPage, anonymous, type Caller, type OperatorCaller } from './caller.ts';
import {
  describeAccess,
  type Access,
  type DeclaredAccess,
  type GuardedAccess,
  type OperatorRule,
  type SiteSource,
} from './declared-access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyInstance {
    /** Every registered route and who may use it. */
    declaredAccess: DeclaredAccess[];
  }
  interface FastifyRequest {
    readonly caller: Caller;
    /** Absent until the token of the request has been verified. */
    authenticated?: Caller;
    /** What the route declares. Absent for a public route. */
    declared?: GuardedAccess;
    /** Set by `permit` and its variants. A `resource` route that answers without calling one of them has a bug. */
    permitted?: true;
  }
}

export interface AccessOptions {
  readonly authenticator: Authenticator;
  readonly perToken: RateLimit;
  /** Limits the requests from one address by callers with a publishable token and by their visitors. */
  readonly perAddress: AddressRate;
  /** Limits failed authentications per address, so that nobody can guess tokens. */
  readonly failures: RateLimit;
  /** Called with the socket of an operator or a secret token, which does not count for its IP address. */
  readonly onTrusted: (socket: Socket) => void;
}

/** Every route declares who may use it. A preflight carries no token, so nobody is refused by its route. */
export function declareAccess(app: App): (route: RouteOptions) => void {
  const declared: DeclaredAccess[] = [];
  app.decorate('declaredAccess', declared);
  app.decorateRequest('caller', {
    getter() {
      return this.authenticated ?? anonymous;
    },
  });
  return (route) => {
    if (route.method === 'OPTIONS') return;
    const access = accessOf(route);
    declared.push(...[route.method].flat().map((method) => ({ method, url: route.url, access })));
    if (route.schema !== undefined)
      Object.assign(route.schema, { security: security(access), 'x-access': describeAccess(access) });
  };
}

function accessOf(route: RouteOptions): Access {
  const access = route.config?.access;
  if (access === undefined) throw new Error(`${String(route.method)} ${route.url} does not declare who may use it`);
  return access;
}

/** `null`: the route is public. */
function guardedAccessOf(route: RouteOptions): GuardedAccess | null {
  const access = accessOf(route);
  return 'site' in access ? access : null;
}

/** The security schemes of the route in openapi.json. */
function security(access: Access): readonly Record<string, readonly string[]>[] {
  if (access.public) return [];
  const bearer = access.operator !== undefined || access.visitor === true ? [{ bearer: [] }] : [];
  return [...bearer, ...(access.application === undefined ? [] : [{ application: [] }])];
}

/** Authenticates the caller and refuses those who may not use the route at all, before the body is read. */
export function authenticate(options: AccessOptions): ForRoute<onRequestHookHandler> {
  return (route) => {
    const access = guardedAccessOf(route);
    return access === null ? null : identify(access, options);
  };
}

function identify(access: GuardedAccess, options: AccessOptions): onRequestHookHandler {
  const { authenticator, perToken, perAddress, failures, onTrusted } = options;
  const accept = (request: FastifyRequest, caller: Caller): void => {
    request.authenticated = caller;
    request.declared = access;
    const { key } = caller;
    // All visitors share a publishable token, so its limit is per address: one visitor must not use up the limit of all.
    perToken.take(caller.kind === 'application' ? `${key} ${addressKey(request.ip)}` : key);
    if (isFromPage(caller)) perAddress.take(request.ip);
    else onTrusted(request.raw.socket);
    refuseKind(access, caller);
    if (access.wholeToken === true && caller.kind === 'operator' && caller.limited) throw tokenLimited();
    if (access.site === 'anywhere' && access.rule === undefined) requireAnywhere(access, caller);
  };
  const fail = (request: FastifyRequest, error: unknown): Error => {
    try {
      if (error instanceof Refusal && error.code === 'unauthenticated') failures.take(addressKey(request.ip));
    } catch (limited) {
      return limited as Error;
    }
    return error as Error;
  };
  return (request, _reply, done) => {
    try {
      const caller = authenticator.authenticate(request.headers.authorization);
      if (!(caller instanceof Promise)) {
        accept(request, caller);
        return done();
      }
      caller
        .then((found) => accept(request, found))
        .then(
          () => done(),
          (error: unknown) => done(fail(request, error)),
        );
    } catch (error) {
      done(fail(request, error));
    }
  };
}

/** Refuses operators without the declared role on the sites that the request names. */
export const authorize: ForRoute<preHandlerHookHandler> = (route) => {
  const access = guardedAccessOf(route);
  if (access === null) return null;
  return (request, _reply, done) => {
    try {
      for (const site of sitesConcerned(access.site, request)) requireSite(request, site);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
};

function refuseKind(access: GuardedAccess, caller: Caller): void {
  const allowed =
    (caller.kind === 'operator' && access.operator !== undefined) ||
    (caller.kind === 'visitor' && access.visitor === true) ||
    (caller.kind === 'application' && (access.application === 'publishable' || access.application === caller.trust));
  if (allowed) return;
  const kinds = [
    access.operator === undefined ? [] : ["an operator's token"],
    access.visitor === undefined ? [] : ["a visitor's token"],
    access.application === undefined
      ? []
      : [`${access.application === 'secret' ? 'a secret' : 'an'} application token`],
  ].flat();
  throw new Refusal('forbidden', `This request needs ${kinds.join(' or ')}.`);
}

function sitesConcerned(source: SiteSource, request: FastifyRequest): readonly SiteId[] {
  switch (source) {
    case 'params.site_id':
      return [(request.params as { site_id: SiteId }).site_id];
    case 'query.site_ids':
      return (request.query as { site_ids: SiteId[] }).site_ids;
    case 'body.site_ids':
      return (request.body as { site_ids: SiteId[] }).site_ids;
    case 'body.site_id':
      return [siteInBody(request)];
    case 'anywhere':
    case 'none':
    case 'resource':
      return [];
  }
}

/** The `site_id` of the body. Where the schema makes it optional, it defaults to the only site that the token reaches. */
export function siteInBody({ caller, body }: FastifyRequest): SiteId {
  const { site_id: given } = body as { site_id?: SiteId };
  if (given !== undefined) return given;
  if (caller.kind === 'visitor' || caller.kind === 'application') return caller.siteId;
  const [only, ...others] = caller.kind === 'operator' ? caller.roles.keys() : [];
  if (only !== undefined && others.length === 0) return only;
  const detail = 'is required, because the token does not reach exactly one site';
  throw invalid([{ attribute: '/site_id', detail }]);
}

/** Requires the declared role on the site: 404 if the caller has no role there, 403 if their role is too low. */
function requireSite(request: FastifyRequest, site: SiteId, noun = 'site', id: string = site): void {
  const { caller } = request;
  if (caller.kind === 'anonymous') throw notFound(noun, id);
  if (caller.kind !== 'operator') {
    if (caller.siteId !== site) throw notFound(noun, id);
    return;
  }
  const role = caller.roles.get(site);
  if (role === undefined) throw notFound(noun, id);
  const least = declaredRole(request);
  if (!atLeast(role, least)) throw roleTooLow(least, role);
}

function requireAnywhere(access: GuardedAccess, caller: Caller): void {
  if (caller.kind !== 'operator' || access.operator === undefined || hasRoleAnywhere(caller, access.operator)) return;
  throw new Refusal('forbidden', `This request needs the role ${access.operator} on at least one site.`);
}

function declaredRole(request: FastifyRequest): Role {
  if (request.declared?.operator === undefined) throw new Error('the route declares no role');
  return request.declared.operator;
}

export function roleTooLow(least: Role, role: Role): Refusal {
  return new Refusal(
    'forbidden',
    `This request needs the role ${least} on the site; the caller's role there is ${role}.`,
  );
}

/** For `resource` routes: refuses unless the caller has the declared role on the site the resource belongs to. */
export function permit(
  request: FastifyRequest,
  resource: { readonly site_id: SiteId; readonly id: string },
  noun: string,
): void {
  if (declaredRule(request) !== undefined) throw new Error('the route declares a rule, but its handler checked a role');
  requireSite(request, resource.site_id, noun, resource.id);
  request.permitted = true;
}

/** For `resource` routes: records that the resource belongs to the calling visitor or application token. */
export function permitted(request: FastifyRequest): void {
  if (request.caller.kind === 'operator') throw new Error('operators need a role or a rule: call permit or permitAs');
  request.permitted = true;
}

/** For `resource` routes that declare a rule: records which rules the handler checked. The declared one must be among them. */
export function permitAs(request: FastifyRequest, ...rules: readonly OperatorRule[]): void {
  const declared = declaredRule(request);
  if (request.caller.kind === 'operator' && (declared === undefined || !rules.includes(declared)))
    throw new Error(`the route declares ${declared ?? 'no rule'}, but its handler checked ${rules.join(' or ')}`);
  request.permitted = true;
}

export function declaredRule(request: FastifyRequest): OperatorRule | undefined {
  return request.declared?.rule;
}

/** A route whose handler decides who may use it must not answer without a decision. */
export const assertPermitted: ForRoute<onSendHookHandler> = (route) => {
  const access = guardedAccessOf(route);
  return access?.site === 'resource' || access?.rule !== undefined ? refuseUndecided : null;
};

function refuseUndecided(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload: unknown) => void,
): void {
  // A replayed response was permitted when it was first sent to the same caller.
  const replayed = reply.getHeader('idempotency-replayed') === 'true';
  if (reply.statusCode >= 400 || request.permitted === true || replayed) return done(null, payload);
  done(new Error(`${request.method} ${request.routeOptions.url ?? ''} answered without a permission check`), payload);
}

/** The caller of a route that only operators may use. */
export function operatorOf(request: FastifyRequest): OperatorCaller {
  if (request.caller.kind !== 'operator') throw new Error('the route is not for operators only');
  return request.caller;
}

export function tokenLimited(): Refusal {
  return new Refusal(
    'forbidden',
    'This token is limited to some sites. Obtain a token without site_ids for this request.',
  );
}

/** The account of an authenticated caller. */
export function accountOf(request: FastifyRequest): AccountId {
  if (request.caller.kind === 'anonymous') throw new Error('the route is public');
  return request.caller.accountId;
}
