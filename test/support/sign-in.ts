import { makeLink } from '../../packages/server/src/identity/sign-in/links.ts';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import { call, type Answer, type Json } from './server.ts';
import { expectStatus, makeOperator, type Reached, type TestAccount } from './world.ts';

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

/** What several who asked at once were told, in order. */
export function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
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

/** An invitation of an operator who has not been invited before. */
export async function newInvitation(server: Reached, account: TestAccount): Promise<string> {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  return invite(server, account, id);
}

interface About {
  readonly url: string;
  /** The operator who asks. */
  readonly self: string;
  /** The operator who is asked about. */
  readonly operatorId: string;
}

/** A session of the caller's own, or an invitation of the operator, where the route is about one. */
export async function makeSignedIn(
  server: Reached,
  account: TestAccount,
  { url, self, operatorId }: About,
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
