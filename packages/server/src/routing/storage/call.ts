import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { Changes } from '../board/structures/changes.ts';
import type { Call } from '../board/structures/state.ts';
import { columnsOf, splitByAge } from './columns.ts';

/** Calls are stored in the table `calls`. `connected_at` is written outside of turns. */
export const callColumns = columnsOf<Call>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    engagement_id: ['uuid', ({ engagementId }) => engagementId],
    sub_engagement_id: ['uuid', ({ subEngagementId }) => subEngagementId],
    started_at: ['timestamptz', ({ startedAt }) => startedAt],
  },
  mutable: {
    ended_at: ['timestamptz', ({ endedAt }) => endedAt],
    ended_by: ['text', ({ endedBy }) => endedBy],
  },
});

export type StoredCall = ReturnType<typeof callColumns.toRow>;

/** The current call of engagements AS e, as JSON. */
export function readCall(sql: Sql): SqlFragment {
  return sql`
    (SELECT to_json(current)
       FROM (SELECT ${callColumns.select(sql, 'c')} FROM calls c WHERE c.engagement_id = e.id AND c.ended_at IS NULL) AS current)`;
}

export function callOf(row: StoredCall): Call {
  return {
    id: row.id,
    engagementId: row.engagement_id,
    subEngagementId: row.sub_engagement_id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    endedBy: row.ended_by,
    createdIn: null,
  };
}

/** The CTEs that write the calls of a turn, if there are any. */
export function writeCalls(sql: Sql, changes: Changes): SqlFragment {
  const { added, changed } = splitByAge(changes.calls, changes);
  if (added.length + changed.length === 0) return sql``;
  return sql`
         old_calls AS (
           UPDATE calls c
              -- A side may report that it is connected while the turn waits for the row.
              SET ended_at = greatest(r.ended_at, c.connected_at), ended_by = r.ended_by
             FROM ${callColumns.updated(sql, changed)}
            -- Engagements are locked before their calls, as in markConnected, so that the two cannot deadlock.
            WHERE c.id = r.id AND (SELECT count(*) FROM old_engagements) >= 0
           RETURNING 1),
         new_calls AS (
           INSERT INTO calls (account_id, ${callColumns.names(sql)})
           SELECT turn.account_id, ${callColumns.names(sql)} FROM turn, ${callColumns.inserted(sql, added)}
            -- One open call per engagement (calls_one_at_a_time): the previous call ends before the next is inserted.
            WHERE (SELECT count(*) FROM old_calls) >= 0),`;
}
