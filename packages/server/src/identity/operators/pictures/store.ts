import type { Sql } from '../../../platform/database/database.ts';
import { newId, type AccountId, type OperatorId } from '../../../platform/ids.ts';
import type { Picture } from './picture.ts';

export async function findPicture(sql: Sql, id: string): Promise<Picture | null> {
  const [row] = await sql<Picture[]>`SELECT content_type, content FROM operator_pictures WHERE id = ${id}`;
  return row ?? null;
}

interface Owner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

/** Replaces the operator's picture, or removes it if `picture` is `null`. Returns the id of the new picture. */
export async function replacePicture(
  sql: Sql,
  { accountId, operatorId }: Owner,
  picture: Picture | null,
): Promise<string | null> {
  await sql`DELETE FROM operator_pictures WHERE operator_id = ${operatorId}`;
  const id = picture === null ? null : newId<string>();
  if (id !== null && picture !== null)
    await sql`
      INSERT INTO operator_pictures (id, account_id, operator_id, content_type, content)
      VALUES (${id}, ${accountId}, ${operatorId}, ${picture.content_type}, ${picture.content})`;
  await sql`
    UPDATE operators SET picture_id = ${id}, version = version + 1, updated_at = now() WHERE id = ${operatorId}`;
  return id;
}
