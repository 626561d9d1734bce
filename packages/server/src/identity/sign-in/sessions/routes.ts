import { roles } from '@usher/contract/roles';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database.ts';
import { notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http.ts';
import { addressKey } from '../../../platform/rate-limit.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../../platform/schema.ts';
import { accessTokenAudit } from '../../access-tokens/access-token.ts';
import { operatorOf } from '../../access.ts';
import { recordChange } from '../../audit/audit.ts';
import { digestOf } from '../../secrets.ts';
import { forgetDevices } from '../devices/store.ts';
import type { SignInParts } from '../parts.ts';
import { revokeToken } from '../store.ts';
import { answerEntered, answerSignedIn, forgetEnded, isSecure, refuseCrossOrigin, signedIn } from './answer.ts';
import { clearCookie, readCookie } from './cookie.ts';
import { credentials, signIn } from './sign-in.ts';
import { endSession, endSessions, listSessions, useSession, waysIn } from './store.ts';

const tags = ['Signing in'];
const selfOnly = { operator: 'operator', site: 'none' } as const;

const sessionOutput = output('Session', {
  id: uuid<'session'>(),
  current: Type.Boolean({ description: 'Whether this token was obtained through it' }),
  signed_in_with: oneOf(waysIn),
  user_agent: Type.String(),
  created_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
});

export function sessionRoutes(app: App, parts: SignInParts): void {
  app.post(
    '/operator_authentication/sessions',
    {
      config: {
        access: { public: true, shows: 'a password, an API key or a one-time link' },
        settles: true,
        audit: 'signing in',
      },
      schema: {
        tags,
        summary: 'Sign in: with e-mail and password, with an API key, or with a one-time link',
        description:
          'Give email and password, or api_key_id and api_key_secret, or link. The session comes as an httpOnly cookie, ' +
          'which does nothing but obtain the next token.',
        body: credentials,
        response: { 201: signedIn },
      },
    },
    async (request, reply) => {
      refuseCrossOrigin(request, parts.publicUrl);
      const session = await signIn(parts, request, request.body);
      reply.code(201);
      return answerEntered({ tokens: parts.tokens, request, reply }, session);
    },
  );

  app.post(
    '/operator_authentication/sessions/current/token',
    {
      config: { access: { public: true, shows: 'the cookie of a session' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Exchange the session in the cookie for a token',
        description: 'Only for pages of this very origin. The session lasts longer for being used.',
        body: body({}),
        response: { 200: signedIn },
      },
    },
    async (request, reply) => exchange(parts, request, reply),
  );

  currentRoutes(app);
  ownSessionRoutes(app);
}

async function exchange(parts: SignInParts, request: FastifyRequest, reply: FastifyReply) {
  refuseCrossOrigin(request, parts.publicUrl);
  const cookie = readCookie(request.headers.cookie);
  if (cookie === null) throw noSession(request);
  const session = await useSession(request.sql, cookie.id, digestOf(cookie.secret));
  if (session === null) {
    parts.attempts.take(addressKey(request.ip));
    throw noSession(request);
  }
  return answerSignedIn({ tokens: parts.tokens, request, reply }, session, cookie);
}

function noSession(request: FastifyRequest): Refusal {
  return new Refusal('no_session', 'There is no session, or it has ended. Sign in.', {
    headers: { 'www-authenticate': 'Bearer', 'set-cookie': clearCookie(isSecure(request)) },
  });
}

/** About the token that is presented, and the session it was obtained through if it was. */
function currentRoutes(app: App): void {
  app.get(
    '/operator_authentication/sessions/current',
    {
      config: { access: selfOnly },
      schema: {
        tags,
        summary: 'Whose token this is and what it reaches',
        response: {
          200: Type.Object({
            operator_id: uuid<'operator'>(),
            site_roles: Type.Record(Type.String(), oneOf(roles)),
            expires_at: Type.Unsafe<Date | null>({ ...nullable(timestamp), description: 'null: it does not expire' }),
            session_id: Type.Unsafe<string | null>({
              ...nullable(uuid<'session'>()),
              description:
                'The session it was obtained through; null: it was obtained with an API key, or is a long-lived token',
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
        settles: true,
        // A token that was obtained by signing in is not worth an entry.
        audit: {
          action: 'access_token.delete',
          ...accessTokenAudit,
          unless: (request) => operatorOf(request).token.kind !== 'long-lived',
        },
      },
      schema: {
        tags,
        summary: 'Sign out: revoke this token, and end the session it was obtained through',
        description: 'A long-lived token is deleted.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const caller = operatorOf(request);
      const { operatorId, sessionId, roles: siteRoles } = caller;
      await inTransaction(request.sql, async (sql) => {
        const deleted = await revokeToken(sql, caller);
        // A token that somebody else has just deleted is in the log by now: nothing has changed here.
        const change =
          deleted === null ? { before: {}, after: {} } : { before: { ...deleted, operator_id: operatorId } };
        recordChange(request, { ...change, concerns: { any: [...siteRoles.keys()] } });
        if (sessionId !== null) await endSession(sql, operatorId, sessionId);
      });
      forgetEnded(request, reply, sessionId === null ? [] : [sessionId]);
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
        summary: "The caller's own sessions, the one used last first",
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
      config: { access: selfOnly, settles: true, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Sign out everywhere: end all of one’s sessions',
        description:
          'Tokens obtained through them end at once, and no browser is known any more. API keys, and tokens obtained with one directly, go on.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operatorId } = operatorOf(request);
      const ended = await inTransaction(request.sql, async (sql) => {
        await forgetDevices(sql, operatorId);
        return endSessions(sql, operatorId);
      });
      forgetEnded(request, reply, ended);
      reply.code(204);
    },
  );

  app.delete(
    '/operator_authentication/sessions/:session_id',
    {
      config: { access: selfOnly, settles: true, audit: 'signing in' },
      schema: {
        tags,
        summary: "End one of the caller's own sessions; tokens obtained through it end at once",
        params: Type.Object({ session_id: uuid<'session'>() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { session_id: id } = request.params;
      if (!(await endSession(request.sql, operatorOf(request).operatorId, id))) throw notFound('session', id);
      forgetEnded(request, reply, [id]);
      reply.code(204);
    },
  );
}
