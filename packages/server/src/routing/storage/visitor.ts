import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, TeamId, VisitorId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import { scheduleLeaseDeadlines } from '../board/rules/presence.ts';
import type { Changes } from '../board/structures/changes.ts';
import { columnsOf } from './columns.ts';

/** The presence leases of visitors are stored in `visitors`, whose other columns belong to identity. */
const leaseColumns = columnsOf<readonly [VisitorId, number | null]>()({
  immutable: { id: ['uuid', ([id]) => id] },
  mutable: { presence_expires_at: ['timestamptz', ([, leaseUntil]) => leaseUntil] },
});

/** What tickets, requests and engagements are read with. */
export interface StoredVisitor {
  readonly visitor_teams: readonly TeamId[];
  readonly lease_until: number | null;
}

/** The columns of a `StoredVisitor`, from visitors AS v. */
export const visitorColumns = (sql: Sql): SqlFragment => sql`
  v.team_ids AS visitor_teams, extract(epoch FROM v.presence_expires_at)::float8 * 1000 AS lease_until`;

type StoredLease = ReturnType<typeof leaseColumns.toRow>;

export async function readVisitorLeases(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[],
): Promise<StoredLease[]> {
  return sql<StoredLease[]>`
    SELECT ${leaseColumns.select(sql, 'v')}
      FROM visitors v
     WHERE v.account_id = ${accountId} AND v.id = ANY(${[...ids]}::uuid[])`;
}

/** Takes over a visitor's lease that another process has written. */
export function putVisitorLease(board: Board, id: VisitorId, leaseUntil: number | null): void {
  const visitor = board.visitors.get(id);
  if (visitor === undefined) return;
  visitor.leaseUntil = leaseUntil;
  scheduleLeaseDeadlines(board, visitor);
}

/** The CTE that writes the leases of visitors. */
export function writeVisitorLeases(sql: Sql, { visitorLeases }: Changes): SqlFragment {
  return sql`
         leases AS (
           UPDATE visitors v SET ${leaseColumns.assignments(sql)}
             FROM ${leaseColumns.updated(sql, visitorLeases)}
            WHERE v.id = r.id)`;
}
