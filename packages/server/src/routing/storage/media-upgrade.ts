import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { Changes } from '../board/structures/changes.ts';
import { appendUpgradeStates } from '../media-upgrade.ts';

/**
 * The CTEs that accept media upgrades, and cancel the pending ones of engagements in which one side hung up, if there are any. Media
 * upgrades are stored in the table `media_upgrade_requests`, and are otherwise written by engagements.
 */
export function writeMediaUpgrades(sql: Sql, { upgrades, calls }: Changes): SqlFragment {
  const hungUp = [...calls].filter(({ endedBy }) => endedBy !== null).map(({ engagementId }) => engagementId);
  if (upgrades.length + hungUp.length === 0) return sql``;
  return sql`
         upgraded AS (
           UPDATE media_upgrade_requests u
              SET state = CASE WHEN u.id = ANY(${upgrades}::uuid[]) THEN 'accepted' ELSE 'canceled' END,
                  updated_at = turn.at
             FROM turn
            WHERE u.id = ANY(${upgrades}::uuid[])
               OR (u.engagement_id = ANY(${hungUp}::uuid[]) AND u.state = 'pending')
           RETURNING u.*),
         upgrade_states AS (${appendUpgradeStates(sql)}),`;
}
