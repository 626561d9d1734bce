import { deleteOld, type ShouldContinue } from '../../platform/database/batches.ts';
import type { Sql } from '../../platform/database/database.ts';
import { deleteAccessToken, type AccessTokenRow } from '../access-tokens/store.ts';
import type { OperatorCaller } from '../caller.ts';

/** Revokes the caller's token. Returns the deleted access token; `null` for a signed token, or if it was deleted before. */
export async function revokeToken(
  sql: Sql,
  { accountId, operatorId, token }: OperatorCaller,
): Promise<AccessTokenRow | null> {
  if (token.kind === 'long-lived') return deleteAccessToken(sql, operatorId, token.id);
  await sql`
    INSERT INTO revoked_tokens (id, account_id, expires_at) VALUES (${token.id}, ${accountId}, ${token.expiresAt})
    ON CONFLICT (id) DO NOTHING`;
  return null;
}

/**
 * Deletes the revocations of expired tokens. They are kept for one more day, so that a clock that is set back by less than a day
 * makes no revoked token valid again. `now` is by the clock that dates the tokens.
 */
export async function dropExpiredRevocations(pool: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const before = (sql: Sql) => sql`${now}::timestamptz - interval '1 day'`;
  await deleteOld(pool, { table: 'revoked_tokens', column: 'expires_at', before }, shouldContinue);
}

const signInTables = [
  'operator_sessions',
  'operator_invitations',
  'sign_in_links',
  'known_devices',
  'operator_access_tokens',
] as const;

/** Deletes expired sessions, invitations, links, devices and access tokens. */
export async function dropExpiredSignIns(pool: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const before = (sql: Sql) => sql`${now}`;
  for (const table of signInTables) await deleteOld(pool, { table, column: 'expires_at', before }, shouldContinue);
}
