import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import { appendUpgradeStates } from '../../routing/media-upgrade.ts';
import type { UpgradeInput, UpgradeRow } from './media-upgrade.ts';

/** A request that is still pending when its engagement ends or is transferred counts as canceled. */
const columns = (sql: Sql) => sql`
  u.account_id, u.id, u.engagement_id, u.sub_engagement_id, u.audio, u.video, u.target,
  CASE WHEN u.state = 'pending' AND (e.ended_at IS NOT NULL OR u.sub_engagement_id <> e.sub_engagement_id)
       THEN 'canceled' ELSE u.state END AS state,
  u.created_at, u.updated_at, u.audio_type, u.phone_number, u.phone_extension`;

interface NewUpgrade extends UpgradeInput, Pick<UpgradeRow, 'target'> {
  readonly id: string;
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly subEngagementId: string;
}

/** Cancels the pending request and stores the new one. The caller holds the engagement's lock. */
export async function replaceUpgrade(sql: Sql, upgrade: NewUpgrade): Promise<UpgradeRow> {
  const { id, accountId, engagementId, subEngagementId, audio, video, target } = upgrade;
  const { audio_type: audioType = null, phone_number: number = null, phone_extension: extension = null } = upgrade;
  await sql`
    WITH upgraded AS (
           UPDATE media_upgrade_requests SET state = 'canceled', updated_at = now()
            WHERE engagement_id = ${engagementId} AND state = 'pending'
           RETURNING *)
    ${appendUpgradeStates(sql)}`;
  const [row] = await sql<UpgradeRow[]>`
    INSERT INTO media_upgrade_requests (id, account_id, engagement_id, sub_engagement_id, audio, video, target, created_at,
                                        updated_at, audio_type, phone_number, phone_extension)
    VALUES (${id}, ${accountId}, ${engagementId}, ${subEngagementId}, ${audio}, ${video}, ${target}, now(), now(),
            ${audioType}, ${number}, ${extension})
    RETURNING account_id, id, engagement_id, sub_engagement_id, audio, video, target, state, created_at, updated_at,
              audio_type, phone_number, phone_extension`;
  if (row === undefined) throw new Error('the request was not stored');
  return row;
}

export async function listUpgrades(sql: Sql, accountId: AccountId, engagementId: EngagementId): Promise<UpgradeRow[]> {
  return sql<UpgradeRow[]>`
    SELECT ${columns(sql)}
      FROM media_upgrade_requests u
      JOIN engagements e ON e.id = u.engagement_id
     WHERE u.engagement_id = ${engagementId} AND u.account_id = ${accountId}
     ORDER BY u.created_at DESC
     LIMIT 100`;
}

export async function findUpgrade(
  sql: Sql,
  accountId: AccountId,
  engagementId: EngagementId,
  id: string,
): Promise<UpgradeRow | null> {
  const [row] = await sql<UpgradeRow[]>`
    SELECT ${columns(sql)}
      FROM media_upgrade_requests u
      JOIN engagements e ON e.id = u.engagement_id
     WHERE u.id = ${id} AND u.engagement_id = ${engagementId} AND u.account_id = ${accountId}`;
  return row ?? null;
}

/** Closes a pending request. The caller holds the engagement's lock. */
export async function closeUpgrade(sql: Sql, id: string, state: 'declined' | 'canceled'): Promise<void> {
  await sql`
    WITH upgraded AS (
           UPDATE media_upgrade_requests SET state = ${state}, updated_at = now()
            WHERE id = ${id} AND state = 'pending'
           RETURNING *)
    ${appendUpgradeStates(sql)}`;
}
