import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId } from '../../platform/ids.ts';
import { digestOf, newSecret } from '../secrets.ts';
import { lockSignIn } from './lock-sign-in.ts';

const validMinutes = 60;

/** The operator as whom a one-time link signs in. */
interface LinkOwner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

/** The page of the console that redeems a link. The token is behind `#`, so that it appears in no server log. */
export function linkPath(token: string): string {
  return `/console/sign-in#${token}`;
}

/** Returns the token. Only its digest is stored. */
export async function makeLink(sql: Sql, { accountId, operatorId }: LinkOwner): Promise<string> {
  const token = newSecret('usl');
  await sql`
    INSERT INTO sign_in_links (secret_digest, account_id, operator_id, expires_at)
    VALUES (${digestOf(token)}, ${accountId}, ${operatorId}, now() + make_interval(mins => ${validMinutes}))`;
  return token;
}

/** Deletes the link and returns its owner, whose row stays locked. Of two concurrent calls only one gets the owner. */
export async function redeemLink(sql: Sql, token: string): Promise<LinkOwner | null> {
  const digest = digestOf(token);
  const [owner] = await sql<LinkOwner[]>`
    SELECT account_id AS "accountId", operator_id AS "operatorId" FROM sign_in_links WHERE secret_digest = ${digest}`;
  if (owner === undefined) return null;
  await lockSignIn(sql, owner.operatorId);
  const deleted =
    await sql`DELETE FROM sign_in_links WHERE secret_digest = ${digest} AND expires_at > now() RETURNING 1`;
  return deleted.length === 0 ? null : owner;
}

export async function withdrawLinks(sql: Sql, operatorId: OperatorId): Promise<void> {
  await sql`DELETE FROM sign_in_links WHERE operator_id = ${operatorId}`;
}
