import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import type { Outcome } from './harness.ts';

export interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
}

export type Outcomes = Readonly<Record<string, Outcome>>;

/** By entry; each names its machine, because entries may have been run on different ones. No dates: the history has them. */
export type Results = Readonly<Record<string, { readonly machine: Machine; readonly measures: Outcomes }>>;

export function thisMachine(): Machine {
  return { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model ?? 'unknown' };
}

/** What was run replaces what there was of it; the rest stays. Sorted, so that a run changes only its own lines. */
export function merge(before: Results, ran: Results): Results {
  const all = Object.entries({ ...before, ...ran });
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** More digits than these are noise, and would make every line differ. */
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
    throw new Error('bench/results.json cannot be read; remove it, or restore it', { cause: error });
  }
}

export async function writeResults(file: URL, results: Results): Promise<void> {
  await writeFile(file, toJson(results));
}
