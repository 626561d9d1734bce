import type { SubjectEvent } from '../../events/append.ts';
import type { OnDemandType } from '../../events/catalogue.ts';
import type { Sql } from '../../platform/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import type { Changes } from '../board/structures/changes.ts';
import { whatMoved } from '../turn-rows.ts';
import { readReported } from './store.ts';
import { operatorSubject, queueSubject, type ReportedStates, type StateReport, type Subject } from './subjects.ts';

/**
 * Reports changes of queues and operators that time, settings and commands make. What was reported last is stored, so that a change is
 * reported once: by whichever process takes the turn, and after a restart by the first one. All of this runs under the lock of the
 * account's row.
 */
export interface StateWatch {
  readonly kinds: readonly Subject['kind'][];
  /** What was reported last, or how the subject was before this turn if nothing was. */
  readonly reported: ReportedStates;
  /** Subjects that are watched from this turn on. */
  readonly added: readonly Subject[];
  /** Other processes or settings may have changed the board since the last turn of this process. */
  readonly isFresh: boolean;
}

interface WatchInput {
  readonly accountId: AccountId;
  readonly onDemand: readonly OnDemandType[];
  /** What the last turn of this process has left; `null`: it is to be read. */
  readonly known: ReportedStates | null;
}

/** Call this before the turn changes the board. `null`: nobody subscribes. */
export async function watchStates(
  sql: Sql,
  board: Board,
  { accountId, onDemand, known }: WatchInput,
): Promise<StateWatch | null> {
  const kinds: Subject['kind'][] = [];
  if (onDemand.includes('queue.status')) kinds.push('queue');
  if (onDemand.includes('operator.presence')) kinds.push('operator');
  if (kinds.length === 0) return null;
  if (known !== null) return { kinds, reported: known, added: [], isFresh: false };
  const reported = await readReported(sql, accountId, kinds);
  const added = kinds.flatMap((kind) => [...subjectsOf(board, kind)]).filter(({ id }) => !reported.has(id));
  for (const { id, state } of added) reported.set(id, state);
  return { kinds, reported, added, isFresh: true };
}

function* subjectsOf(board: Board, kind: Subject['kind']): Generator<Subject> {
  if (kind === 'queue') for (const queue of board.queues.values()) yield queueSubject(board, queue);
  else for (const operator of board.operators.values()) yield operatorSubject(operator);
}

export const nothingToReport: StateReport = { events: [], states: [], gone: [] };

export function isEmptyReport({ states, gone }: StateReport): boolean {
  return states.length + gone.length === 0;
}

/** Compares the board after the turn with what was reported last, and updates that. */
export function reportStates(board: Board, changes: Changes, watch: StateWatch): StateReport {
  const { kinds, reported, added, isFresh } = watch;
  const moved = whatMoved(changes);
  const mayHaveChanged = { queue: isFresh || moved !== null, operator: isFresh || moved === 'staff' };
  const states = new Map<string, StateReport['states'][number]>(added.map((subject) => [subject.id, subject]));
  const events: SubjectEvent[] = [];
  for (const kind of kinds) {
    if (!mayHaveChanged[kind]) continue;
    for (const subject of subjectsOf(board, kind)) {
      const before = reported.get(subject.id);
      if (before === subject.state) continue;
      if (before !== undefined) events.push(subject.eventSince(before, changes));
      reported.set(subject.id, subject.state);
      states.set(subject.id, subject);
    }
  }
  return { events, states: [...states.values()], gone: isFresh ? takeGone(board, reported) : [] };
}

function takeGone(board: Board, reported: ReportedStates): string[] {
  const onBoard = new Set<string>([...board.queues.keys(), ...board.operators.keys()]);
  const gone = [...reported.keys()].filter((id) => !onBoard.has(id));
  for (const id of gone) reported.delete(id);
  return gone;
}
