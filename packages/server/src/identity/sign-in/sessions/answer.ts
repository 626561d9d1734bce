import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Refusal } from '../../../platform/errors.ts';
import { output, uuid } from '../../../platform/schema.ts';
import { operatorTokenSeconds, type Tokens } from '../../tokens.ts';
import { writeDevice } from '../devices/cookie.ts';
import { deviceDays } from '../devices/store.ts';
import { clearCookie, readCookie, writeCookie, type SessionCookie } from './cookie.ts';
import type { OpenedSession } from './open-session.ts';
import { isSameOrigin } from './same-origin.ts';
import type { SessionId, UsedSession } from './store.ts';

export const signedIn = output('SignedIn', {
  token: Type.String({ description: 'To be sent as "Authorization: Bearer <token>", and kept in memory only' }),
  expires_in: Type.Integer({ description: 'Seconds the token is valid for; the session is exchanged for another' }),
  operator_id: uuid<'operator'>(),
  session_id: uuid<'session'>(),
});

/** For whatever reads or sets the cookie: other people's pages may not. */
export function refuseCrossOrigin({ headers, host }: FastifyRequest, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const fetchSite = Array.isArray(site) ? site.join() : site;
  if (isSameOrigin({ fetchSite, origin: headers.origin, host, publicUrl })) return;
  throw new Refusal('cross_origin', 'Only pages that Usher itself serves may do this.');
}

/** Browsers say by what scheme a page was loaded even where a proxy does not. */
export function isSecure({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https://') === true;
}

interface Answering {
  readonly tokens: Tokens;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A token of the session, and the cookie that it is exchanged for the next one with. */
export async function answerSignedIn(
  { tokens, request, reply }: Answering,
  session: UsedSession,
  cookie: SessionCookie,
): Promise<Type.Static<typeof signedIn>> {
  const { id, accountId, operatorId, expiresAt } = session;
  const left = Math.max(Math.floor((expiresAt.getTime() - Date.now()) / 1000), 1);
  reply.header('set-cookie', writeCookie(cookie, { seconds: left, secure: isSecure(request) }));
  reply.header('cache-control', 'no-store');
  const seconds = Math.min(left, operatorTokenSeconds);
  const token = await tokens.signOperator({ accountId, operatorId, by: { session: id }, sites: null, seconds });
  return { token, expires_in: seconds, operator_id: operatorId, session_id: id };
}

/** The same for one who has just signed in: from now on the browser is known. */
export async function answerEntered(
  answering: Answering,
  session: OpenedSession,
): Promise<Type.Static<typeof signedIn>> {
  const answer = await answerSignedIn(answering, session, session.cookie);
  const { request, reply } = answering;
  const lasting = { seconds: deviceDays * 86_400, secure: isSecure(request) };
  // Fastify sends both cookies: one more `set-cookie` does not replace the first.
  reply.header('set-cookie', writeDevice(session.device, lasting));
  return answer;
}

/** Takes the cookie from the browser if it is of a session that has ended. */
export function forgetEnded(
  request: FastifyRequest,
  reply: FastifyReply,
  ended: readonly (SessionId | string)[],
): void {
  const held = readCookie(request.headers.cookie);
  if (held !== null && ended.includes(held.id)) reply.header('set-cookie', clearCookie(isSecure(request)));
}
