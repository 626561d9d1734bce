import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Refusal } from '../../../platform/errors.ts';
import { output, uuid } from '../../../platform/schema.ts';
import { operatorTokenSeconds, type Tokens } from '../../tokens.ts';
import { writeDevice } from '../devices/cookie.ts';
import { deviceDays } from '../devices/store.ts';
import { clearCookie, readCookie, writeCookie, type CookieScope, type SessionCookie } from './cookie.ts';
import type { OpenedSession } from './open-session.ts';
import { isSameOrigin } from './same-origin.ts';
import type { SessionId, UsedSession } from './store.ts';

export const signedIn = output('SignedIn', {
  token: Type.String({ description: 'Send it as "Authorization: Bearer <token>", and keep it in memory only' }),
  expires_in: Type.Integer({
    description: 'Lifetime of the token in seconds. Exchange the session for the next token',
  }),
  operator_id: uuid<'operator'>(),
  session_id: uuid<'session'>(),
});

/** Pages of other origins must not use routes that read or set the session cookie. */
export function refuseCrossOrigin({ headers, host }: FastifyRequest, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const fetchSite = Array.isArray(site) ? site.join() : site;
  if (isSameOrigin({ fetchSite, origin: headers.origin, host, publicUrl })) return;
  throw new Refusal('cross_origin', 'Only pages that Usher serves may send this request.');
}

/** The scheme of `Origin` is right even behind a proxy that does not forward the scheme. */
function isSecure({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https://') === true;
}

export function cookieScopeOf(request: FastifyRequest): CookieScope {
  return { secure: isSecure(request), pathPrefix: request.server.pathPrefix };
}

interface ReplyContext {
  readonly tokens: Tokens;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers with a token of the session and sets the session cookie. */
export async function answerSignedIn(
  { tokens, request, reply }: ReplyContext,
  session: UsedSession,
  cookie: SessionCookie,
): Promise<Type.Static<typeof signedIn>> {
  const { id, accountId, operatorId, expiresAt } = session;
  const secondsLeft = Math.max(Math.floor((expiresAt.getTime() - Date.now()) / 1000), 1);
  reply.header('set-cookie', writeCookie(cookie, secondsLeft, cookieScopeOf(request)));
  reply.header('cache-control', 'no-store');
  const seconds = Math.min(secondsLeft, operatorTokenSeconds);
  const token = await tokens.signOperator({ accountId, operatorId, by: { session: id }, sites: null, seconds });
  return { token, expires_in: seconds, operator_id: operatorId, session_id: id };
}

/** Like `answerSignedIn`, after a sign-in: also sets the device cookie, which makes the browser a known device. */
export async function answerNewSession(
  context: ReplyContext,
  session: OpenedSession,
): Promise<Type.Static<typeof signedIn>> {
  const answer = await answerSignedIn(context, session, session.cookie);
  const { request, reply } = context;
  // Fastify sends both cookies: a second `set-cookie` does not replace the first.
  const device = writeDevice(session.newDeviceSecret, deviceDays * 86_400, cookieScopeOf(request));
  reply.header('set-cookie', device);
  return answer;
}

/** Clears the browser's session cookie if its session has ended. */
export function clearEndedCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  ended: readonly (SessionId | string)[],
): void {
  const cookie = readCookie(request.headers.cookie);
  if (cookie !== null && ended.includes(cookie.id)) reply.header('set-cookie', clearCookie(cookieScopeOf(request)));
}
