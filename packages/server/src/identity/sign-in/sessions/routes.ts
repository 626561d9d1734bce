import { roles } from '@usher/contract/roles';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database/database.ts';
import { notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import { addressKey } from '../../../platform/limits/rate-limit.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../../platform/schema.ts';
import { accessTokenAudit } from '../../access-tokens/access-token.ts';
import { operatorOf } from '../../access.ts';
import { recordChange } from '../../audit/audit.ts';
import { digestOf } from '../../secrets.ts';
import { forgetDevices } from '../devices/store.ts';
import type { SignInContext } from '../sign-in-context.ts';
import { revokeToken } from '../store.ts';
import {
  answerNewSession,
  answerSignedIn,
  clearEndedCookie,
  cookieScopeOf,
  refuseCrossOrigin,
  signedIn,
} from './answer.ts';
import { clearCookie, readCookie } from './cookie.ts';
import { credentials, signIn } from './sign-in.ts';
import { endSession, endSessions, listSessions, useSession, signInMethods } from './store.ts';

const tags = ['Signing in'];
const selfOnly = { operator: 'operator', site: 'none' } as const;

const sessionOutput = output('Session', {
  id: uuid<'session'>(),
  current: Type.Boolean({ description: 'Whether the token of this request was obtained with the session' }),
  signed_in_with: oneOf(signInMethods),
  user_agent: Type.String(),
  created_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
});

export function sessionRoutes(app: App, context: SignInContext): void {
  app.post(
    '/operator_authentication/sessions',
    {
      config: {
        access: { public: true, shows: 'a password, an API key or a one-time link' },
        changesCaches: true,
        audit: 'signing in',
      },
      schema: {
        tags,
        summary: 'Sign in with e-mail and password, an API key or a one-time link',
        description:
          'Send email and password, or api_key_id and api_key_secret, or link. The session is set as an HttpOnly cookie, ' +
          'which can only be exchanged for further tokens.',
        body: credentials,
        response: { 201: signedIn },
      },
    },
    async (request, reply) => {
      refuseCrossOrigin(request, context.publicUrl);
      const { sql, ip: address, headers } = request;
      const attempt = { sql, address, userAgent: headers['user-agent'], cookies: headers.cookie };
      const session = await signIn(context, attempt, request.body);
      reply.code(201);
      return answerNewSession({ tokens: context.tokens, request, reply }, session);
    },
  );

  app.post(
    '/operator_authentication/sessions/current/token',
    {
      config: { access: { public: true, shows: 'the cookie of a session' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Exchange the session cookie for a token',
        description: 'Only for pages of the same origin. Each use extends the session.',
        body: body({}),
        response: { 200: signedIn },
      },
    },
    async (request, reply) => exchange(context, request, reply),
  );

  currentRoutes(app);
  ownSessionRoutes(app);
}

async function exchange(context: SignInContext, request: FastifyRequest, reply: FastifyReply) {
  refuseCrossOrigin(request, context.publicUrl);
  const cookie = readCookie(request.headers.cookie);
  if (cookie === null) throw noSession(request);
  const session = await useSession(request.sql, cookie.id, digestOf(cookie.secret));
  if (session === null) {
    context.attempts.take(addressKey(request.ip));
    throw noSession(request);
  }
  return answerSignedIn({ tokens: context.tokens, request, reply }, session, cookie);
}

function noSession(request: FastifyRequest): Refusal {
  return new Refusal('no_session', 'You are signed out. Sign in again.', {
    headers: { 'www-authenticate': 'Bearer', 'set-cookie': clearCookie(cookieScopeOf(request)) },
  });
}

/** Routes about the token of the request and the session it was obtained with, if any. */
function currentRoutes(app: App): void {
  app.get(
    '/operator_authentication/sessions/current',
    {
      config: { access: selfOnly },
      schema: {
        tags,
        summary: 'Show whose token this is and which sites it reaches',
        description:
          'For a program that was given a token: the operator, their role on each site that the token reaches, and when the token expires.',
        response: {
          200: Type.Object({
            operator_id: uuid<'operator'>(),
            site_roles: Type.Record(Type.String(), oneOf(roles)),
            expires_at: Type.Unsafe<Date | null>({
              ...nullable(timestamp),
              description: 'null: the token does not expire',
            }),
            session_id: Type.Unsafe<string | null>({
              ...nullable(uuid<'session'>()),
              description:
                'The session that the token was obtained with; null: it was obtained with an API key or is a long-lived access token',
            }),
          }),
        },
      },
    },
    async (request) => {
      const { operatorId, roles: siteRoles, token, sessionId } = operatorOf(request);
      return {
        operator_id: operatorId,
        site_roles: Object.fromEntries(siteRoles),
        expires_at: token.expiresAt,
        session_id: sessionId,
      };
    },
  );

  app.delete(
    '/operator_authentication/sessions/current',
    {
      config: {
        access: selfOnly,
        changesCaches: true,
        // Only deleting an access token is audited; signing out is not.
        audit: {
          action: 'access_token.delete',
          ...accessTokenAudit,
          unless: (request) => operatorOf(request).token.kind !== 'long-lived',
        },
      },
      schema: {
        tags,
        summary: 'Sign out: revoke this token and end its session',
        description: 'A long-lived access token is deleted.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const caller = operatorOf(request);
      const { operatorId, sessionId, roles: siteRoles } = caller;
      await inTransaction(request.sql, async (sql) => {
        const deleted = await revokeToken(sql, caller);
        // If somebody else has just deleted the token, their request wrote the entry and this one changes nothing.
        const change =
          deleted === null ? { before: {}, after: {} } : { before: { ...deleted, operator_id: operatorId } };
        recordChange(request, { ...change, concerns: { any: [...siteRoles.keys()] } });
        if (sessionId !== null) await endSession(sql, operatorId, sessionId);
      });
      clearEndedCookie(request, reply, sessionId === null ? [] : [sessionId]);
      reply.code(204);
    },
  );
}

function ownSessionRoutes(app: App): void {
  app.get(
    '/operator_authentication/sessions',
    {
      config: { access: selfOnly },
      schema: {
        tags,
        summary: "List the caller's sessions, the most recently used first",
        description:
          'A session is a browser in which the operator has signed in. Tokens obtained with API keys belong to no session.',
        response: { 200: Type.Object({ sessions: Type.Array(sessionOutput) }) },
      },
    },
    async (request) => {
      const { operatorId, sessionId } = operatorOf(request);
      const sessions = await listSessions(request.sql, operatorId);
      return { sessions: sessions.map((session) => ({ ...session, current: session.id === sessionId })) };
    },
  );

  app.delete(
    '/operator_authentication/sessions',
    {
      config: { access: selfOnly, changesCaches: true, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Sign out everywhere: end all sessions of the caller',
        description:
          'Their tokens stop working at once, and all known browsers are forgotten. API keys and tokens obtained with API keys keep working.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operatorId } = operatorOf(request);
      const ended = await inTransaction(request.sql, async (sql) => {
        await forgetDevices(sql, operatorId);
        return endSessions(sql, operatorId);
      });
      clearEndedCookie(request, reply, ended);
      reply.code(204);
    },
  );

  app.delete(
    '/operator_authentication/sessions/:session_id',
    {
      config: { access: selfOnly, changesCaches: true, audit: 'signing in' },
      schema: {
        tags,
        summary: "End one of the caller's sessions; its tokens stop working at once",
        description: 'For a browser that the operator no longer uses or does not know. Their other sessions continue.',
        params: Type.Object({ session_id: uuid<'session'>() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { session_id: id } = request.params;
      if (!(await endSession(request.sql, operatorOf(request).operatorId, id))) throw notFound('session', id);
      clearEndedCookie(request, reply, [id]);
      reply.code(204);
    },
  );
}
