import type { Sql } from '../../../platform/database/database.ts';
import type { AccountId, Id, OperatorId } from '../../../platform/ids.ts';

type InvitationId = Id<'invitation'>;

const validDays = 7;

export interface InvitationRow {
  readonly id: InvitationId;
  readonly created_at: Date;
  readonly expires_at: Date;
}

interface NewInvitation {
  readonly id: InvitationId;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly digest: Buffer;
}

/** Replaces the operator's earlier invitation. */
export async function putInvitation(sql: Sql, invitation: NewInvitation): Promise<InvitationRow> {
  const { id, accountId, operatorId, digest } = invitation;
  const [row] = await sql<InvitationRow[]>`
    INSERT INTO operator_invitations (id, account_id, operator_id, secret_digest, expires_at)
    VALUES (${id}, ${accountId}, ${operatorId}, ${digest}, now() + make_interval(days => ${validDays}))
    ON CONFLICT (operator_id) DO UPDATE
       SET id = excluded.id, secret_digest = excluded.secret_digest, created_at = now(), expires_at = excluded.expires_at
    RETURNING id, created_at, expires_at`;
  if (row === undefined) throw new Error('INSERT returned no invitation');
  return row;
}

export async function listInvitations(sql: Sql, operatorId: OperatorId): Promise<InvitationRow[]> {
  return sql<InvitationRow[]>`
    SELECT id, created_at, expires_at
      FROM operator_invitations
     WHERE operator_id = ${operatorId} AND expires_at > now()`;
}

export async function withdrawInvitation(sql: Sql, operatorId: OperatorId, id: string): Promise<boolean> {
  const [row] = await sql`
    DELETE FROM operator_invitations WHERE operator_id = ${operatorId} AND id = ${id} RETURNING id`;
  return row !== undefined;
}

export async function withdrawInvitations(sql: Sql, operatorId: OperatorId): Promise<void> {
  await sql`DELETE FROM operator_invitations WHERE operator_id = ${operatorId}`;
}

interface InvitedOperator {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly name: string;
  readonly email: string;
  readonly expires_at: Date;
}

/** The operator whom an invitation is for; `null` if it is unknown or expired, or the operator or account is disabled. */
export async function findInvitedOperator(sql: Sql, digest: Buffer): Promise<InvitedOperator | null> {
  const [row] = await sql<InvitedOperator[]>`
    SELECT i.account_id AS "accountId", i.operator_id AS "operatorId", o.name, o.email, i.expires_at
      FROM operator_invitations i
      JOIN operators o ON o.id = i.operator_id
      JOIN accounts a ON a.id = i.account_id AND a.disabled_at IS NULL
     WHERE i.secret_digest = ${digest} AND i.expires_at > now() AND o.enabled`;
  return row ?? null;
}

/** Deletes the invitation. Of two concurrent calls only one returns `true`. */
export async function redeemInvitation(sql: Sql, digest: Buffer): Promise<boolean> {
  const [row] = await sql`
    DELETE FROM operator_invitations WHERE secret_digest = ${digest} AND expires_at > now() RETURNING id`;
  return row !== undefined;
}
