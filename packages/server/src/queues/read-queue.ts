import type { Sql } from '../platform/database/database.ts';
import type { QueueId } from '../platform/ids.ts';
import { nextChange } from '../schedules/hours.ts';
import { computedFields, factsAt } from './facts.ts';
import { queueFields, type QueueOutput, type QueueRow } from './queue.ts';
import { readInputs, type QueueInputs } from './queue-inputs.ts';
import { Evaluation, type QueueFacts } from './status.ts';
import { queuesAlong } from './store.ts';

/** A queue and its fallback chain, with everything that determines their status. */
interface ReadChain {
  readonly inputs: QueueInputs;
  readonly facts: ReadonlyMap<QueueId, QueueFacts>;
  readonly own: QueueFacts;
}

async function readChain(sql: Sql, id: QueueId, rows: readonly QueueRow[], now: number): Promise<ReadChain> {
  const inputs = await readInputs(sql, rows, now);
  const { facts } = factsAt(inputs, now);
  const own = facts.get(id);
  if (own === undefined) throw new Error(`the queue ${id} does not exist`);
  return { inputs, facts, own };
}

function outputOf(row: QueueRow, { own, facts, inputs }: ReadChain): QueueOutput {
  const computed = computedFields(own, new Evaluation(facts).of(own), inputs.counts.get(row.id));
  return { ...queueFields.show(row), ...computed };
}

/** Reads and evaluates one queue with its fallbacks on `sql`, which may be the transaction that has just changed the queue. */
export async function readQueue(sql: Sql, row: QueueRow, now: number): Promise<QueueOutput> {
  const rows = await queuesAlong(sql, row.account_id, row.id);
  const current = rows.find(({ id }) => id === row.id);
  if (current === undefined) throw new Error(`the queue ${row.id} does not exist`);
  return outputOf(current, await readChain(sql, row.id, rows, now));
}

/** The evaluation of a queue that may not be stored. */
export interface QueueProjection {
  readonly output: QueueOutput;
  readonly staff: number;
  readonly withinHours: boolean;
  /** When the queue next opens or closes by its hours; null: never. */
  readonly hoursChangeAt: number | null;
  /** The `self_status` of each queue in the fallback chain. */
  readonly fallbacks: ReadonlyMap<QueueId, QueueOutput['self_status']>;
}

/** Evaluates a queue, stored or not, with its fallback chain. Nothing is written. */
export async function projectQueue(
  sql: Sql,
  row: QueueRow,
  fallbacks: readonly QueueRow[],
  now: number,
): Promise<QueueProjection> {
  const chain = await readChain(sql, row.id, [row, ...fallbacks.filter(({ id }) => id !== row.id)], now);
  const { inputs, facts, own } = chain;
  const hours = row.scheduling_policy_id === null ? undefined : inputs.hours.get(row.scheduling_policy_id);
  const evaluation = new Evaluation(facts);
  return {
    output: outputOf(row, chain),
    staff: own.staff,
    withinHours: own.open,
    hoursChangeAt: hours === undefined ? null : nextChange(hours, now),
    fallbacks: new Map([...facts].map(([id, fact]) => [id, evaluation.of(fact).self_status])),
  };
}
