import { makeLink } from '../../packages/server/src/identity/sign-in/links.ts';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import { call, type Answer, type Json } from './server.ts';
import { expectStatus, type Reached } from './world.ts';

export const sessionsPath = '/operator_authentication/sessions';
export const exchange = `POST ${sessionsPath}/current/token`;

export interface TestSession {
  readonly id: string;
  readonly token: string;
  readonly operatorId: string;
  /** As the browser sends it. */
  readonly cookie: string;
}

/** The cookie that an answer sets, as the browser sends it. */
export function cookieOf(answer: Answer): string {
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
}

export function sessionOf(answer: Answer): TestSession {
  const { token, session_id: id, operator_id: operatorId } = answer.body;
  return { id, token, operatorId, cookie: cookieOf(answer) };
}

/** Signed in by whichever way the body is of. */
export async function openSession(server: Reached, body: Json): Promise<TestSession> {
  return sessionOf(expectStatus(await call(server, `POST ${sessionsPath}`, { body }), 201));
}

/** A one-time link of the operator. */
export async function linkOf({ database: { sql } }: Reached, operatorId: string): Promise<string> {
  const [owner] = await sql<{ accountId: AccountId; operatorId: OperatorId }[]>`
    SELECT account_id AS "accountId", id AS "operatorId" FROM operators WHERE id = ${operatorId}`;
  if (owner === undefined) throw new Error('there is no such operator');
  return makeLink(sql, owner);
}

/** The token of a new invitation of the operator. */
export async function invite(server: Reached, { admin }: { admin: string }, operatorId: string): Promise<string> {
  const answer = await call(server, `POST /operators/${operatorId}/invitations`, { token: admin });
  return expectStatus(answer, 201).body.url.split('#')[1];
}
