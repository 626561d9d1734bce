import type { Medium } from '@usher/contract/media';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId, TeamId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import { dropOperator, putOperator } from '../board/rules/staffing.ts';
import { mediaSet } from '../board/structures/media.ts';
import type { Operator, OperatorSettings } from '../board/structures/state.ts';

/** What the board reads of the table `operators`, which belongs to identity. Their presence is written by presence.ts. */
interface StoredOperator {
  readonly id: OperatorId;
  readonly enabled: boolean;
  readonly max_engagement_count: number;
  readonly available: boolean;
  readonly media: Medium[];
  readonly lease_until: number | null;
  readonly sites: Record<SiteId, TeamId[]>;
  readonly last_engaged_at: number | null;
}

/** Of the given operators, or with `null` of all. Includes disabled operators: they may still have an engagement that must end. */
export async function readOperators(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredOperator[]> {
  return sql<StoredOperator[]>`
    SELECT o.id, o.enabled, o.max_engagement_count, o.available, o.media,
           extract(epoch FROM o.presence_expires_at)::float8 * 1000 AS lease_until,
           coalesce((SELECT jsonb_object_agg(a.site_id,
                              ARRAY(SELECT t.team_id FROM operator_teams t
                                     WHERE t.operator_id = o.id AND t.site_id = a.site_id))
                       FROM operator_assignments a WHERE a.operator_id = o.id), '{}') AS sites,
           extract(epoch FROM greatest((SELECT max(e.sub_started_at) FROM engagements e WHERE e.operator_id = o.id),
                                       (SELECT max(s.started_at) FROM sub_engagements s WHERE s.operator_id = o.id)))::float8
             * 1000 AS last_engaged_at
      FROM operators o
     WHERE o.account_id = ${accountId} AND (${ids === null} OR o.id = ANY(${[...(ids ?? [])]}::uuid[]))`;
}

function settingsOf(row: StoredOperator): OperatorSettings {
  return {
    id: row.id,
    enabled: row.enabled,
    sites: new Map(Object.entries(row.sites).map(([site, teams]) => [site as SiteId, new Set(teams)])),
    maxEngagements: row.max_engagement_count,
    available: row.available,
    media: mediaSet(row.media),
    leaseUntil: row.lease_until,
  };
}

/** Puts stored operators on the board, and removes those that were requested and no longer exist. */
export function putOperators(board: Board, rows: readonly StoredOperator[], requested: readonly string[]): void {
  // An engagement that ended before the clock was set back lies in the future.
  for (const row of rows) putOperator(board, settingsOf(row), Math.min(row.last_engaged_at ?? 0, board.now));
  const found = new Set<string>(rows.map((row) => row.id));
  for (const id of requested) if (!found.has(id)) dropOperator(board, id as OperatorId);
}

/** The operator of a request or an engagement that is put on the board. */
export function operatorOnBoard(board: Board, id: OperatorId): Operator {
  const operator = board.operators.get(id);
  if (operator === undefined) throw new Error(`the board has no operator ${id}`);
  return operator;
}
