import type { Sql } from '../../../platform/database.ts';
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

/** In place of the one the operator had. */
export async function putInvitation(sql: Sql, invitation: NewInvitation): Promise<InvitationRow> {
  const { id, accountId, operatorId, digest } = invitation;
  const [row] = await sql<InvitationRow[]>`
    INSERT INTO operator_invitations (id, account_id, operator_id, secret_digest, expires_at)
    VALUES (${id}, ${accountId}, ${operatorId}, ${digest}, now() + make_interval(days => ${validDays}))
    ON CONFLICT (operator_id) DO UPDATE
       SET id = excluded.id, secret_digest = excluded.secret_digest, created_at = now(), expires_at = excluded.expires_at
    RETURNING id, created_at, expires_at`;
  if (row === undefined) throw new Error('an invitation was not written');
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

interface Invited {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly name: string;
  readonly email: string;
  readonly expires_at: Date;
}

/** Whom an invitation is for; `null`: it is none, or no longer, or the operator is disabled. */
export async function findInvited(sql: Sql, digest: Buffer): Promise<Invited | null> {
  const [row] = await sql<Invited[]>`
    SELECT i.account_id AS "accountId", i.operator_id AS "operatorId", o.name, o.email, i.expires_at
      FROM operator_invitations i
      JOIN operators o ON o.id = i.operator_id
     WHERE i.secret_digest = ${digest} AND i.expires_at > now() AND o.enabled`;
  return row ?? null;
}

/** Uses it up: of two who accept it at once, one is told `true`. */
export async function spendInvitation(sql: Sql, digest: Buffer): Promise<boolean> {
  const [row] = await sql`
    DELETE FROM operator_invitations WHERE secret_digest = ${digest} AND expires_at > now() RETURNING id`;
  return row !== undefined;
}
