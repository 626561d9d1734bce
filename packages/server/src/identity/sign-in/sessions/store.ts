import type { Sql } from '../../../platform/database/database.ts';
import type { AccountId, Id, OperatorId } from '../../../platform/ids.ts';

export type SessionId = Id<'session'>;

export const signInMethods = ['password', 'api_key', 'link', 'invitation'] as const;
type SignInMethod = (typeof signInMethods)[number];

/** A session ends after `idleDays` without use, and after `maxDays` in any case. */
const idleDays = 14;
const maxDays = 90;
/** Per operator. A new session beyond this replaces the least recently used one. */
const maxSessions = 50;

export interface NewSession {
  readonly id: SessionId;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly method: SignInMethod;
  /** The API key that opened the session. Deleting the key ends the session. */
  readonly keyId: string | null;
  readonly digest: Buffer;
  readonly userAgent: string;
}

/** Requires the lock on the operator's row, which makes the number of sessions exact. */
export async function insertSession(sql: Sql, session: NewSession): Promise<Date> {
  await sql`
    DELETE FROM operator_sessions
     WHERE id IN (SELECT id FROM operator_sessions
                   WHERE operator_id = ${session.operatorId}
                   ORDER BY last_used_at DESC, id
                  OFFSET ${maxSessions - 1})`;
  const [row] = await sql<{ expires_at: Date }[]>`
    INSERT INTO operator_sessions
           (id, account_id, operator_id, signed_in_with, api_key_id, secret_digest, user_agent, expires_at)
    VALUES (${session.id}, ${session.accountId}, ${session.operatorId}, ${session.method}, ${session.keyId},
            ${session.digest}, ${session.userAgent}, now() + make_interval(days => ${idleDays}))
    RETURNING expires_at`;
  if (row === undefined) throw new Error('INSERT returned no session');
  return row.expires_at;
}

export interface UsedSession {
  readonly id: SessionId;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly expiresAt: Date;
}

/** Extends and returns the session; `null` if it does not exist, or its operator or account is disabled. */
export async function useSession(sql: Sql, id: string, digest: Buffer): Promise<UsedSession | null> {
  const [row] = await sql<UsedSession[]>`
    UPDATE operator_sessions s
       SET last_used_at = now(),
           expires_at = least(now() + make_interval(days => ${idleDays}),
                              s.created_at + make_interval(days => ${maxDays}))
      FROM operators o
      JOIN accounts a ON a.id = o.account_id AND a.disabled_at IS NULL
     WHERE s.id = ${id} AND s.secret_digest = ${digest} AND s.expires_at > now()
       AND o.id = s.operator_id AND o.enabled
    RETURNING s.id, s.account_id AS "accountId", s.operator_id AS "operatorId", s.expires_at AS "expiresAt"`;
  return row ?? null;
}

export interface SessionRow {
  readonly id: SessionId;
  readonly signed_in_with: SignInMethod;
  readonly user_agent: string;
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly expires_at: Date;
}

export async function listSessions(sql: Sql, operatorId: OperatorId): Promise<SessionRow[]> {
  return sql<SessionRow[]>`
    SELECT id, signed_in_with, user_agent, created_at, last_used_at, expires_at
      FROM operator_sessions
     WHERE operator_id = ${operatorId} AND expires_at > now()
     ORDER BY last_used_at DESC, id`;
}

/** Ends a session of the operator. Returns whether it existed. */
export async function endSession(sql: Sql, operatorId: OperatorId, id: string): Promise<boolean> {
  const [row] = await sql`DELETE FROM operator_sessions WHERE id = ${id} AND operator_id = ${operatorId} RETURNING id`;
  return row !== undefined;
}

/** Ends the session of the browser's cookie, whichever operator it belongs to. */
export async function endSessionInCookie(sql: Sql, id: string, digest: Buffer): Promise<void> {
  await sql`DELETE FROM operator_sessions WHERE id = ${id} AND secret_digest = ${digest}`;
}

/** Ends all of the operator's sessions except `kept`. Returns the ids of the ended sessions. */
export async function endSessions(sql: Sql, operatorId: OperatorId, kept: string | null = null): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM operator_sessions
     WHERE operator_id = ${operatorId} AND id IS DISTINCT FROM ${kept}::uuid
    RETURNING id`;
  return rows.map(({ id }) => id);
}

/** Ends the sessions that were opened with the API key. */
export async function endSessionsOfKey(sql: Sql, keyId: string): Promise<void> {
  await sql`DELETE FROM operator_sessions WHERE api_key_id = ${keyId}`;
}
