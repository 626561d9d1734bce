import { availableParallelism, loadavg } from 'node:os';
import { readProcessorTimes, type ProcessorTimes } from '../../scripts/processor-times.ts';

/** A test that takes longer hangs. A busy machine may need minutes for what takes seconds. */
export const hangMs = 900_000;

/** A condition that is never met must still fail its test. */
const most = 8;

/**
 * How much longer work takes than on an idle machine: 1 if it is idle, 4 if four processes want each processor. Waiting for a condition
 * is given up later by this factor: tests run in parallel, and a virtual machine may get only a part of its processors. A test of how long
 * something takes does not use it.
 */
export function slowness(): number {
  const waiting = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(most, Math.max(1, waiting) / (1 - stolenShare()));
}

const atStart = readProcessorTimes();

/** The share of the processors that the host gave to others since this process started. */
function stolenShare(): number {
  return Math.min(0.8, stolenSince(atStart));
}

/** The share of the processor time wanted since `then` that the host gave to others. */
function stolenSince(then: ProcessorTimes): number {
  const now = readProcessorTimes();
  const busy = now.busy - then.busy;
  const stolen = now.stolen - then.stolen;
  return busy + stolen <= 0 ? 0 : stolen / (busy + stolen);
}

/** At most this share of a time is subtracted as stolen, so that every limit is reached. */
const mostSubtracted = 0.95;

/** Measures the time in which the machine worked for its own processes, in ms: without what its host gave to others. */
export function startWatch(): () => number {
  const began = performance.now();
  const times = readProcessorTimes();
  return () => (performance.now() - began) * (1 - Math.min(mostSubtracted, stolenSince(times)));
}
