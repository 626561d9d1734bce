import { makeLink } from '../../../packages/server/src/identity/sign-in/links.ts';
import type { AccountId, OperatorId } from '../../../packages/server/src/platform/ids.ts';
import { call, type Answer, type Json } from '../server.ts';
import { expectStatus, makeOperator, type ServerHandle, type TestAccount } from '../world.ts';

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

/** The sorted statuses of concurrent requests. */
export function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

/** Signs in with the credentials in the body. */
export async function openSession(server: ServerHandle, body: Json): Promise<TestSession> {
  return sessionOf(expectStatus(await call(server, `POST ${sessionsPath}`, { body }), 201));
}

/** Makes a one-time link for the operator. */
export async function linkOf({ database: { sql } }: ServerHandle, operatorId: string): Promise<string> {
  const [owner] = await sql<{ accountId: AccountId; operatorId: OperatorId }[]>`
    SELECT account_id AS "accountId", id AS "operatorId" FROM operators WHERE id = ${operatorId}`;
  if (owner === undefined) throw new Error('there is no such operator');
  return makeLink(sql, owner);
}

/** Invites the operator. Returns the token of the invitation. */
export async function invite(server: ServerHandle, { admin }: { admin: string }, operatorId: string): Promise<string> {
  const answer = await call(server, `POST /operators/${operatorId}/invitations`, { token: admin });
  return expectStatus(answer, 201).body.url.split('#')[1];
}

/** Invites a new operator. Returns the token of the invitation. */
export async function newInvitation(server: ServerHandle, account: TestAccount): Promise<string> {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  return invite(server, account, id);
}

interface SignInTarget {
  readonly url: string;
  /** The operator who sends the request. */
  readonly self: string;
  /** The operator whom the request is about. */
  readonly operatorId: string;
}

/** Makes a session of the caller or an invitation of the operator, if the route is about one. */
export async function makeSignInTargets(
  server: ServerHandle,
  account: TestAccount,
  { url, self, operatorId }: SignInTarget,
): Promise<Record<string, string>> {
  if (url.includes(':invitation_id')) {
    await invite(server, account, operatorId);
    const { body } = await call(server, `GET /operators/${operatorId}/invitations`, { token: account.admin });
    return { invitation_id: body.invitations[0].id };
  }
  if (!url.includes(':session_id') && !url.endsWith('/current/token')) return {};
  const { id, cookie } = await openSession(server, { link: await linkOf(server, self) });
  return { session_id: id, cookie };
}
