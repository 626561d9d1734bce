import type { Sql } from '../../platform/database.ts';
import type { AccountId, OperatorId } from '../../platform/ids.ts';
import { digestOf, newSecret } from '../secrets.ts';
import { holdOperator } from './hold-operator.ts';

const validMinutes = 60;

/** Whoever opens a one-time link signs in as its operator. */
interface LinkOwner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

/** Where the console takes a link; behind `#`, so that the token reaches no server's log. */
export function linkPath(token: string): string {
  return `/console/sign-in#${token}`;
}

/** Answers the token, of which only a digest is kept. */
export async function makeLink(sql: Sql, { accountId, operatorId }: LinkOwner): Promise<string> {
  const token = newSecret('usl');
  await sql`
    INSERT INTO sign_in_links (secret_digest, account_id, operator_id, expires_at)
    VALUES (${digestOf(token)}, ${accountId}, ${operatorId}, now() + make_interval(mins => ${validMinutes}))`;
  return token;
}

/** Uses it up: of two who open it at once, one gets its owner, whose row is held from then on. */
export async function spendLink(sql: Sql, token: string): Promise<LinkOwner | null> {
  const digest = digestOf(token);
  const [owner] = await sql<LinkOwner[]>`
    SELECT account_id AS "accountId", operator_id AS "operatorId" FROM sign_in_links WHERE secret_digest = ${digest}`;
  if (owner === undefined) return null;
  await holdOperator(sql, owner.operatorId);
  const spent = await sql`DELETE FROM sign_in_links WHERE secret_digest = ${digest} AND expires_at > now() RETURNING 1`;
  return spent.length === 0 ? null : owner;
}

export async function withdrawLinks(sql: Sql, operatorId: OperatorId): Promise<void> {
  await sql`DELETE FROM sign_in_links WHERE operator_id = ${operatorId}`;
}
