import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import type { Outcome } from './harness.ts';

export interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
}

export type Outcomes = Readonly<Record<string, Outcome>>;

/** Results by entry. Each entry names the machine it ran on, because they may differ. Dates are in the Git history. */
export type Results = Readonly<Record<string, { readonly machine: Machine; readonly measures: Outcomes }>>;

export function thisMachine(): Machine {
  return { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model ?? 'unknown' };
}

/** Replaces the entries that were run and keeps the others. Sorted, so that a run changes only its own lines. */
export function merge(before: Results, ran: Results): Results {
  const all = Object.entries({ ...before, ...ran });
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** More digits are noise and would change every line in each run. */
const digits = 4;

export function toJson(results: Results): string {
  const short = (_key: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(digits)) : value;
  return `${JSON.stringify(results, short, 2)}\n`;
}

export async function readResults(file: URL): Promise<Results> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Results;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error('cannot read bench/results.json; restore or delete it', { cause: error });
  }
}

export async function writeResults(file: URL, results: Results): Promise<void> {
  await writeFile(file, toJson(results));
}
