import { smsRequestLifetimeHours } from '@usher/contract/limits';
import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, RequestId } from '../../platform/ids.ts';
import { getOrAddVisitor, releaseVisitor, type Board } from '../board/board.ts';
import { longestOfferMs } from '../board/rules/outage.ts';
import { scheduleLeaseDeadlines } from '../board/rules/presence.ts';
import { addRequest, occupy, removeRequest } from '../board/rules/requests.ts';
import type { Changes } from '../board/structures/changes.ts';
import { newRequest } from '../board/structures/new-request.ts';
import type { Request } from '../board/structures/state.ts';
import { columnsOf, splitByAge } from './columns.ts';
import { engagementOnBoard } from './engagement.ts';
import { operatorOnBoard } from './operator.ts';
import { visitorColumns, type StoredVisitor } from './visitor.ts';

/** Requests, offers and transfers to operators are stored in the table `engagement_requests`. */
export const requestColumns = columnsOf<Request>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    site_id: ['uuid', ({ siteId }) => siteId],
    kind: ['text', ({ kind }) => kind],
    origin: ['text', ({ origin }) => origin],
    visitor_id: ['uuid', ({ visitor }) => visitor.id],
    operator_id: ['uuid', ({ operator }) => operator.settings.id],
    queue_id: ['uuid', ({ queue }) => queue?.settings.id ?? null],
    ticket_id: ['uuid', ({ ticket }) => ticket?.id ?? null],
    notes: ['json', ({ notes }) => notes],
    created_at: ['timestamptz', ({ createdAt }) => createdAt],
  },
  mutable: {
    state: ['text', ({ state }) => state],
    media: ['text', ({ medium }) => medium],
    fail_reason: ['text', ({ failReason }) => failReason],
    fail_message: ['text', ({ failMessage }) => failMessage],
    timeout_ms: ['integer', ({ timeoutMs }) => timeoutMs],
    engagement_id: ['uuid', ({ engagement }) => engagement?.id ?? null],
    // Deleted as soon as it is no longer counted.
    address_hash: ['text', ({ state, address }) => (state === 'pending' ? address : null)],
  },
});

export type StoredRequest = ReturnType<typeof requestColumns.toRow> & StoredVisitor;

/**
 * The last turn ended every request that had timed out by then. A pending request was therefore made at most its time-out before
 * that turn, however long ago the turn was. An hour is added as a margin.
 */
export const maxRequestAge = `${longestOfferMs / 1_000 + 3_600} seconds`;
export const maxLastingRequestAge = `${smsRequestLifetimeHours + 1} hours`;

/** `null` reads all pending requests. */
export async function readRequests(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredRequest[]> {
  const which = ids === null
    ? sql`
      r.state = 'pending' AND r.id IN (
        SELECT request_id FROM queue_tickets WHERE account_id = ${accountId} AND ended_at IS NULL
        UNION ALL
        SELECT id FROM engagement_requests
         WHERE account_id = ${accountId} AND kind <> 'ticket'
           AND created_at > (SELECT turned_at FROM accounts WHERE id = ${accountId}) - ${maxRequestAge}::interval
        UNION ALL
        SELECT id FROM lasting_requests
         WHERE account_id = ${accountId}
           AND created_at > (SELECT turned_at FROM accounts WHERE id = ${accountId}) - ${maxLastingRequestAge}::interval)`
    : sql`r.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredRequest[]>`
    SELECT ${requestColumns.select(sql, 'r')}, ${visitorColumns(sql)}
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE ${which}
     ORDER BY r.created_at, r.id`;
}

/** Puts a stored request on the board. Its operator, and its ticket or engagement, must be there. */
export function putRequest(board: Board, row: StoredRequest): void {
  if (row.state !== 'pending') return dropRequest(board, row.id);
  const known = board.requests.get(row.id);
  if (known === undefined) return addPendingRequest(board, row);
  known.timeoutMs = row.timeout_ms;
  board.deadlines.set(known.deadline, known.createdAt + known.timeoutMs);
  if (known.medium === row.media) return undefined;
  occupy(board, known.operator, known.medium, -1);
  known.medium = row.media;
  return occupy(board, known.operator, known.medium, 1);
}

/** Removes a request that has ended, if the board has it. */
export function dropRequest(board: Board, id: RequestId): void {
  const known = board.requests.get(id);
  if (known === undefined) return;
  removeRequest(board, known, 'free');
  if (known.ticket?.request === known) known.ticket.request = null;
  if (known.engagement?.transfer === known) known.engagement.transfer = null;
  releaseVisitor(board, known.visitor);
}

function addPendingRequest(board: Board, row: StoredRequest): void {
  const visitor = getOrAddVisitor(board, row.visitor_id, row.lease_until);
  const ticket = row.ticket_id === null ? null : (board.tickets.get(row.ticket_id) ?? null);
  const engagement = row.kind === 'transfer' ? engagementOnBoard(board, row.engagement_id) : null;
  const request = newRequest({
    id: row.id,
    kind: row.kind,
    origin: row.origin,
    siteId: row.site_id,
    visitor,
    operator: operatorOnBoard(board, row.operator_id),
    medium: row.media,
    queue: row.queue_id === null ? null : (board.queues.get(row.queue_id) ?? null),
    ticket,
    engagement,
    createdAt: row.created_at,
    timeoutMs: row.timeout_ms,
    notes: row.notes,
    address: row.address_hash,
    createdIn: null,
  });
  if (ticket !== null) ticket.request = request;
  else if (engagement !== null) engagement.transfer = request;
  addRequest(board, request);
  scheduleLeaseDeadlines(board, visitor);
}

/** The CTEs that write the requests of a turn. */
export function writeRequests(sql: Sql, changes: Changes): SqlFragment {
  const { added, changed } = splitByAge(changes.requests, changes);
  return sql`
         new_requests AS (
           INSERT INTO engagement_requests (account_id, updated_at, ${requestColumns.names(sql)})
           SELECT turn.account_id, turn.at, ${requestColumns.names(sql)} FROM turn, ${requestColumns.inserted(sql, added)}),
         old_requests AS (
           UPDATE engagement_requests e
              SET updated_at = turn.at, ${requestColumns.assignments(sql)}
             FROM turn, ${requestColumns.updated(sql, changed)}
            WHERE e.id = r.id)`;
}
