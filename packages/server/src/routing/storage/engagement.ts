import type { Medium } from '@usher/contract/media';
import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import { getOrAddVisitor, releaseVisitor, type Board } from '../board/board.ts';
import { addEngagement, removeEngagement } from '../board/rules/engagements.ts';
import { scheduleLeaseDeadlines } from '../board/rules/presence.ts';
import { noteEngaged } from '../board/rules/staffing.ts';
import type { Changes } from '../board/structures/changes.ts';
import type { Engagement, Visitor } from '../board/structures/state.ts';
import { callOf, readCall, type StoredCall } from './call.ts';
import { columnsOf, splitByAge } from './columns.ts';
import { operatorOnBoard } from './operator.ts';
import { visitorColumns, type StoredVisitor } from './visitor.ts';

/**
 * Engagements are stored in the table `engagements`, and the sub-engagements that ended with a transfer in `sub_engagements`. The table
 * `active_engagements` has the ids of those that have not ended.
 */
export const engagementColumns = columnsOf<Engagement>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    asked_on_site_id: ['uuid', ({ askedOn }) => askedOn],
    visitor_id: ['uuid', ({ visitor }) => visitor.id],
    request_id: ['uuid', ({ requestId }) => requestId],
    ticket_id: ['uuid', ({ ticketId }) => ticketId],
    queue_id: ['uuid', ({ queueId }) => queueId],
    started_at: ['timestamptz', ({ startedAt }) => startedAt],
  },
  mutable: {
    site_id: ['uuid', ({ siteId }) => siteId],
    operator_id: ['uuid', ({ operator }) => operator.settings.id],
    sub_engagement_id: ['uuid', ({ subEngagementId }) => subEngagementId],
    sub_started_at: ['timestamptz', ({ subStartedAt }) => subStartedAt],
    media: ['text', ({ medium }) => medium],
    // Null in rows that were written before the column was added.
    highest_media: ['text', ({ highestMedium }): Medium | null => highestMedium],
    operator_team_ids: ['uuid[]', ({ operatorTeams }) => operatorTeams],
    end_reason: ['text', ({ endReason }) => endReason],
    ended_at: ['timestamptz', ({ endedAt }) => endedAt],
    heard_by: ['uuid[]', ({ subscribers }) => subscribers],
  },
});

const subEngagementColumns = columnsOf<Changes['subEngagements'][number]>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    engagement_id: ['uuid', ({ engagementId }) => engagementId],
    operator_id: ['uuid', ({ operatorId }) => operatorId],
    site_id: ['uuid', ({ siteId }) => siteId],
    media: ['text', ({ medium }) => medium],
    started_at: ['timestamptz', ({ startedAt }) => startedAt],
    highest_media: ['text', ({ highestMedium }) => highestMedium],
    operator_team_ids: ['uuid[]', ({ operatorTeams }) => operatorTeams],
  },
  mutable: {},
});

export interface StoredEngagement
  extends ReturnType<typeof engagementColumns.toRow>, Pick<StoredVisitor, 'lease_until'> {
  readonly by_phone: boolean;
  /** The current call. */
  readonly call: StoredCall | null;
}

/** `null` reads all active engagements. */
export async function readEngagements(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredEngagement[]> {
  const which = ids === null
    ? sql`e.id IN (SELECT engagement_id FROM active_engagements WHERE account_id = ${accountId})`
    : sql`e.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredEngagement[]>`
    SELECT ${engagementColumns.select(sql, 'e')},
           coalesce((SELECT r.notes ->> 'platform' = 'sms' FROM engagement_requests r WHERE r.id = e.request_id), false)
             AS by_phone,
           ${readCall(sql)} AS call, ${visitorColumns(sql)}
      FROM engagements e JOIN visitors v ON v.id = e.visitor_id
     WHERE ${which}`;
}

/** Puts a stored engagement on the board. Its operator must be there. */
export function putEngagement(board: Board, row: StoredEngagement): void {
  if (row.ended_at !== null) return dropEngagement(board, row);
  const known = board.engagements.get(row.id);
  if (known !== undefined) removeEngagement(board, known);
  noteStart(board, row);
  const visitor = getOrAddVisitor(board, row.visitor_id, row.lease_until);
  const current = currentStateOf(board, row);
  const engagement: Engagement =
    known === undefined ? newEngagement(row, visitor, current) : Object.assign(known, current);
  addEngagement(board, engagement, 'free');
  scheduleLeaseDeadlines(board, visitor);
}

/** What a board must know of an engagement that has ended. */
export type EndedEngagement = Pick<StoredEngagement, 'id' | 'operator_id' | 'sub_started_at'>;

/** Removes an engagement that has ended. It may have begun since the board was last up to date. */
export function dropEngagement(board: Board, ended: EndedEngagement): void {
  const known = board.engagements.get(ended.id);
  if (known !== undefined) removeEngagement(board, known);
  noteStart(board, ended);
  if (known !== undefined) releaseVisitor(board, known.visitor);
}

/** D4.2: an engagement that began in another process counts for the idle time of its operator, even if it has ended. */
function noteStart(board: Board, { operator_id, sub_started_at }: EndedEngagement): void {
  const operator = board.operators.get(operator_id);
  if (operator !== undefined && operator.lastEngagedAt < sub_started_at) noteEngaged(board, operator, sub_started_at);
}

/** What changes while the engagement lasts. */
function currentStateOf(board: Board, row: StoredEngagement) {
  return {
    siteId: row.site_id,
    operator: operatorOnBoard(board, row.operator_id),
    medium: row.media,
    subEngagementId: row.sub_engagement_id,
    subStartedAt: row.sub_started_at,
    highestMedium: row.highest_media ?? row.media,
    operatorTeams: row.operator_team_ids,
    subscribers: row.heard_by,
    call: row.call === null ? null : callOf(row.call),
  };
}

function newEngagement(
  row: StoredEngagement,
  visitor: Visitor,
  current: ReturnType<typeof currentStateOf>,
): Engagement {
  return {
    id: row.id,
    endedAt: null,
    endReason: null,
    requestId: row.request_id,
    ticketId: row.ticket_id,
    queueId: row.queue_id,
    visitor,
    startedAt: row.started_at,
    askedOn: row.asked_on_site_id,
    byPhone: row.by_phone,
    transfer: null,
    createdIn: null,
    ...current,
  };
}

/** The engagement of a transfer that is put on the board. */
export function engagementOnBoard(board: Board, id: EngagementId | null): Engagement {
  const engagement = id === null ? undefined : board.engagements.get(id);
  if (engagement === undefined) throw new Error(`the board has no engagement ${id ?? ''}`);
  return engagement;
}

/** The CTEs that write the engagements of a turn. */
export function writeEngagements(sql: Sql, changes: Changes, accountId: AccountId): SqlFragment {
  const { added, changed } = splitByAge(changes.engagements, changes);
  const begun = idsOf(added.filter(({ endedAt }) => endedAt === null));
  const ended = idsOf(changed.filter(({ endedAt }) => endedAt !== null));
  const messages = sql`cardinality(array_positions(${messagesToVisitors(changes)}::uuid[], r.id))`;
  return sql`
         new_engagements AS (
           INSERT INTO engagements (account_id, updated_at, undelivered_to_visitor, ${engagementColumns.names(sql)})
           SELECT turn.account_id, turn.at, ${messages}, ${engagementColumns.names(sql)}
             FROM turn, ${engagementColumns.inserted(sql, added)}),
         old_engagements AS (
           UPDATE engagements e
              SET updated_at = turn.at, undelivered_to_visitor = undelivered_to_visitor + ${messages},
                  ${engagementColumns.assignments(sql)}
             FROM turn, ${engagementColumns.updated(sql, changed)}
            WHERE e.id = r.id
           RETURNING 1),
         begun AS (
           INSERT INTO active_engagements (account_id, engagement_id)
           SELECT turn.account_id, id FROM turn, unnest(${begun}::uuid[]) AS id),
         ended AS (
           DELETE FROM active_engagements
            WHERE account_id = ${accountId} AND engagement_id = ANY(${ended}::uuid[])),
         subs AS (
           INSERT INTO sub_engagements (account_id, ended_at, ${subEngagementColumns.names(sql)})
           SELECT turn.account_id, turn.at, ${subEngagementColumns.names(sql)}
             FROM turn, ${subEngagementColumns.inserted(sql, changes.subEngagements)})`;
}

/** True in any statement of a turn once the rows of the turn's engagements are locked. */
export const engagementsAreLocked = fragment((sql) => sql`(SELECT count(*) FROM old_engagements) >= 0`);

/** The engagement of each chat message that a visitor must acknowledge. System messages are not counted. */
function messagesToVisitors({ messages }: Changes): EngagementId[] {
  return messages.flatMap(({ engagementId, sender }) => (sender.type === 'operator' ? [engagementId] : []));
}

function idsOf(engagements: readonly Engagement[]): EngagementId[] {
  return engagements.map(({ id }) => id);
}
