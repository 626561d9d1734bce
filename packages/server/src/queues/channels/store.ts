import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { ChannelFields, ChannelId, ChannelKind, ChannelRow } from './channel.ts';

const table = (sql: Sql, kind: ChannelKind) => sql(`${kind}_channels`);

export async function findChannel(
  sql: Sql,
  kind: ChannelKind,
  accountId: AccountId,
  id: ChannelId,
): Promise<ChannelRow | null> {
  const [row] = await sql<
    ChannelRow[]
  >`SELECT * FROM ${table(sql, kind)} WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

export async function listChannels(
  sql: Sql,
  kind: ChannelKind,
  siteIds: readonly SiteId[],
  window: { limit: number | null; offset: number },
): Promise<ChannelRow[]> {
  return sql<ChannelRow[]>`
    SELECT * FROM ${table(sql, kind)}
     WHERE site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY created_at, id
     LIMIT ${window.limit} OFFSET ${window.offset}`;
}

export async function insertChannel(
  sql: Sql,
  kind: ChannelKind,
  values: ChannelFields & { id: ChannelId; account_id: AccountId; site_id: SiteId },
): Promise<ChannelRow> {
  const [row] = await sql<ChannelRow[]>`INSERT INTO ${table(sql, kind)} ${sql(values)} RETURNING *`;
  if (row === undefined) throw new Error('the inserted channel was not returned');
  return row;
}

export async function updateChannel(
  sql: Sql,
  kind: ChannelKind,
  id: ChannelId,
  changes: ChannelFields,
): Promise<ChannelRow | null> {
  const [row] = await sql<ChannelRow[]>`
    UPDATE ${table(sql, kind)} SET ${sql(changes)}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING *`;
  return row ?? null;
}

export async function deleteChannel(sql: Sql, kind: ChannelKind, id: ChannelId): Promise<void> {
  await sql`DELETE FROM ${table(sql, kind)} WHERE id = ${id}`;
}
