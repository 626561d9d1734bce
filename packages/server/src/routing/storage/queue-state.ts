import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, QueueId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import type { Changes, Visit } from '../board/structures/changes.ts';
import type { Queue, QueueMemory } from '../board/structures/state.ts';
import { columnsOf } from './columns.ts';

/** The state of queues is stored in the table `queue_states`, and each visitor's stay in a queue, when it has ended, in `queue_visits`. */
const stateColumns = columnsOf<Queue>()({
  immutable: { queue_id: ['uuid', ({ settings }) => settings.id] },
  mutable: {
    visitors: ['integer', ({ visitors }) => visitors],
    standing: ['text', ({ memory }) => memory.lastStatus],
    waits: ['bigint[]', ({ memory }) => memory.waits],
    pace_ms: ['float8', ({ memory }) => memory.paceMs],
    left_others_at: ['timestamptz', ({ memory }) => memory.leftOthersAt],
  },
});

const visitColumns = columnsOf<Visit>()({
  immutable: {
    queue_id: ['uuid', ({ queueId }) => queueId],
    ticket_id: ['uuid', ({ ticketId }) => ticketId],
    enqueued_at: ['timestamptz', ({ enqueuedAt }) => enqueuedAt],
    entered_at: ['timestamptz', ({ enteredAt }) => enteredAt],
    outcome: ['text', ({ outcome }) => outcome],
    destination_queue_id: ['uuid', ({ destinationId }) => destinationId],
  },
  mutable: {},
});

type StoredState = ReturnType<typeof stateColumns.toRow>;

/** The columns of a queue's state, from queue_states AS s. They are null for a queue whose state has never changed. */
export type StoredMemory = {
  readonly [Name in 'standing' | 'waits' | 'pace_ms' | 'left_others_at']: StoredState[Name] | null;
};

export const memoryColumns = (sql: Sql): SqlFragment => stateColumns.select(sql, 's');

export function memoryOf({ standing, waits, pace_ms, left_others_at }: StoredMemory): QueueMemory {
  return { lastStatus: standing ?? 'opened', waits: waits ?? [], paceMs: pace_ms, leftOthersAt: left_others_at };
}

export async function readQueueStates(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<StoredState[]> {
  return sql<StoredState[]>`
    SELECT ${stateColumns.select(sql, 's')}
      FROM queue_states s
     WHERE s.account_id = ${accountId} AND s.queue_id = ANY(${[...ids]}::uuid[])`;
}

/** Takes over the state of a queue that another process has written. */
export function putQueueMemory(board: Board, id: QueueId, memory: QueueMemory): void {
  const queue = board.queues.get(id);
  if (queue !== undefined) Object.assign(queue.memory, memory);
}

/** The CTEs that write the state of the queues of a turn, and the visits that ended. */
export function writeQueueStates(sql: Sql, { queues, visits }: Changes): SqlFragment {
  return sql`
         states AS (
           INSERT INTO queue_states (account_id, ${stateColumns.names(sql)})
           SELECT turn.account_id, ${stateColumns.names(sql)} FROM turn, ${stateColumns.inserted(sql, queues)}
           ON CONFLICT (queue_id) DO UPDATE SET ${stateColumns.excluded(sql)}),
         visits AS (
           INSERT INTO queue_visits (account_id, left_at, ${visitColumns.names(sql)})
           SELECT turn.account_id, turn.at, ${visitColumns.names(sql)} FROM turn, ${visitColumns.inserted(sql, visits)})`;
}
