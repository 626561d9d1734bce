import type { SubjectEvent } from '../../events/append.ts';
import type { OnDemandType } from '../../events/catalogue.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import type { Changes } from '../board/structures/changes.ts';
import type { Operator, Queue } from '../board/structures/state.ts';
import { Concerned } from './concerned.ts';
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
  const states = await readReported(sql, accountId, kinds);
  const added = kinds.flatMap((kind) => [...subjectsOf(board, kind)]).filter(({ id }) => !states.has(id));
  for (const { id, state } of added) states.set(id, state);
  return { kinds, reported: { states, concerned: new Concerned(board) }, added, isFresh: true };
}

interface Candidates {
  readonly queues: Iterable<Queue>;
  readonly operators: Iterable<Operator>;
}

function everything({ queues, operators }: Board): Candidates {
  return { queues: queues.values(), operators: operators.values() };
}

function* subjectsOf(board: Board, kind: Subject['kind'], candidates = everything(board)): Generator<Subject> {
  if (kind === 'queue') for (const queue of candidates.queues) yield queueSubject(board, queue);
  else for (const operator of candidates.operators) yield operatorSubject(operator);
}

export const nothingToReport: StateReport = { events: [], states: [], gone: [] };

export function isEmptyReport({ states, gone }: StateReport): boolean {
  return states.length + gone.length === 0;
}

/** Compares the board after the turn with what was reported last, and updates that. */
export function reportStates(board: Board, changes: Changes, watch: StateWatch): StateReport {
  const { kinds, reported, added, isFresh } = watch;
  const { states: before, concerned } = reported;
  const states = new Map<string, StateReport['states'][number]>(added.map((subject) => [subject.id, subject]));
  const events: SubjectEvent[] = [];
  for (const kind of kinds) {
    for (const subject of subjectsOf(board, kind, isFresh ? everything(board) : concerned.by(changes))) {
      const last = before.get(subject.id);
      if (last === subject.state) continue;
      if (last !== undefined) events.push(subject.eventSince(last, changes));
      before.set(subject.id, subject.state);
      states.set(subject.id, subject);
    }
  }
  return { events, states: [...states.values()], gone: isFresh ? takeGone(board, before) : [] };
}

function takeGone(board: Board, reported: Map<string, string>): string[] {
  const onBoard = new Set<string>([...board.queues.keys(), ...board.operators.keys()]);
  const gone = [...reported.keys()].filter((id) => !onBoard.has(id));
  for (const id of gone) reported.delete(id);
  return gone;
}
