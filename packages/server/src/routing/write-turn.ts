import { appendRows, appendSubjectEvents, eventRows, type SubjectEvent, type Traces } from '../events/append.ts';
import { insertVisitors, type NewVisitor } from '../identity/visitors/store.ts';
import type { Finish, Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Changes } from './board/structures/changes.ts';
import { changedBy, outdatedBy } from './board-changes.ts';
import { writeReported } from './on-demand/store.ts';
import type { StateReport } from './on-demand/subjects.ts';
import { isEmptyReport } from './on-demand/watch-states.ts';
import { writeCalls } from './storage/call.ts';
import { engagementsAreLocked, writeEngagements } from './storage/engagement.ts';
import { writeMediaUpgrades } from './storage/media-upgrade.ts';
import { writeMessages } from './storage/message.ts';
import { keepPresence, writePresences, writeRenewals } from './storage/presence.ts';
import { writeQueueStates } from './storage/queue-state.ts';
import { writeRequests } from './storage/request.ts';
import { writeTickets } from './storage/ticket.ts';
import { writeVisitorLeases } from './storage/visitor.ts';

/** What a turn writes besides the changes of the board. */
export interface Turn {
  readonly accountId: AccountId;
  readonly version: number;
  /** The version before this turn. */
  readonly previous: number;
  readonly seq: number;
  readonly now: number;
  readonly nextDueAt: number | null;
  /** The hint to readers of the log in other processes. It is sent if the turn notifies them of moved queues anyway. */
  readonly hint: string | null;
  readonly traces: Traces;
  readonly newVisitors: readonly NewVisitor[];
  readonly ticketEvents: readonly SubjectEvent[];
  readonly report: StateReport;
}

/**
 * Writes all changes and events of a turn in one statement. Each object is written once, in its final state: new ones are
 * inserted, others are updated by their keys. Rows are sent as JSON, one text per table. If the state of operators may have
 * changed, a second statement ends their presence interval and begins the next. Events on demand have a statement of their own.
 */
export async function writeTurn(sql: Sql, turn: Turn, changes: Changes, finish: Finish): Promise<void> {
  const { accountId, newVisitors, ticketEvents, report } = turn;
  const at = new Date(turn.now);
  const onDemand = [...ticketEvents, ...report.events];
  // Sent together and run in order: the second statement sees the rows of the first.
  await finish([
    ...(newVisitors.length === 0 ? [] : [insertVisitors(sql, newVisitors)]),
    writeChanges(sql, turn, changes),
    ...(changes.states.size === 0 ? [] : [keepPresence(sql, changes, at)]),
    ...(onDemand.length === 0 ? [] : [appendSubjectEvents(sql, { accountId, at }, onDemand)]),
    ...(isEmptyReport(report) ? [] : [writeReported(sql, accountId, report)]),
  ]);
}

/** The last entities are written by few turns. Each CTE costs planning time, so theirs are left out where there is nothing to write. */
async function writeChanges(sql: Sql, turn: Turn, changes: Changes): Promise<void> {
  const { accountId, version, previous, seq, nextDueAt, hint, traces } = turn;
  const at = new Date(turn.now);
  const outdated = outdatedBy(changes);
  const topic = outdated === 'staff' ? 'queues_of_account' : 'queue_counts';
  const notes = outdated === null ? [] : [`${topic}:${accountId}`, ...(hint === null ? [] : [hint])];
  await sql`
    WITH turn AS (SELECT ${accountId}::uuid AS account_id, ${at}::timestamptz AS at),
         ${writeTickets(sql, changes)},
         ${writeRequests(sql, changes)},
         ${writeEngagements(sql, changes, accountId)},
         ${writeQueueStates(sql, changes)},
         ${writePresences(sql, changes)},
         ${writeVisitorLeases(sql, changes)},
         ${writeMessages(sql, changes)},
         -- Events are appended after the rows of their engagements are locked, so that an earlier message precedes the end event.
         ${appendRows(sql, { accountId, at }, eventRows(changes.events, at, traces), engagementsAreLocked(sql))},
         ${writeRenewals(sql, changes)}${writeMediaUpgrades(sql, changes)}${writeCalls(sql, changes)}
         moved AS (
           INSERT INTO board_moves (account_id, version, previous, things)
           SELECT turn.account_id, ${version}::bigint, ${previous}::bigint, ${JSON.stringify(changedBy(changes))}::text::jsonb FROM turn),
         turned AS (
           UPDATE accounts
              SET board_version = ${version}, board_tag = (SELECT tag FROM log_epoch_in_force), last_seq = ${seq},
                  turned_at = turn.at, next_due_at = ${instant(nextDueAt)}
             FROM turn
            WHERE id = turn.account_id)
    SELECT pg_notify('usher_changes', note) FROM unnest(${notes}::text[]) AS note`;
}

/** Writes the next deadline after a turn that changed nothing else. */
export async function writeNextDue(sql: Sql, accountId: AccountId, nextDueAt: number | null): Promise<void> {
  await sql`
    UPDATE accounts SET next_due_at = ${instant(nextDueAt)} WHERE id = ${accountId}`;
}

function instant(at: number | null): Date | null {
  return at === null ? null : new Date(at);
}
