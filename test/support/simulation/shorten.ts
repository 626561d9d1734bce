import { FailedHistory } from './failed-history.ts';

/** What is left after so many histories is short enough. */
const maxTries = 300;

interface Failure {
  readonly failure: FailedHistory;
  readonly steps: readonly number[];
}

/**
 * Leaves out steps of a history that has failed, as long as it fails: first halves, then quarters and so on, at last single steps. What is
 * drawn in a step does not depend on the steps before it, so most of the others stay what they were.
 */
export async function shorten(
  first: FailedHistory,
  run: (steps: readonly number[]) => Promise<unknown>,
): Promise<Failure> {
  let shortest: Failure = { failure: first, steps: first.steps };
  let tries = 0;
  for (let size = Math.ceil(first.steps.length / 2); size >= 1 && tries < maxTries; size = Math.floor(size / 2))
    for (let at = 0; at < shortest.steps.length && tries < maxTries;) {
      tries += 1;
      const failure = await failureOf(run, shortest.steps.toSpliced(at, size));
      if (failure === null) at += size;
      else shortest = { failure, steps: failure.steps };
    }
  return shortest;
}

async function failureOf(
  run: (steps: readonly number[]) => Promise<unknown>,
  steps: readonly number[],
): Promise<FailedHistory | null> {
  try {
    await run(steps);
    return null;
  } catch (error) {
    if (error instanceof FailedHistory) return error;
    throw error;
  }
}

/** Consecutive numbers as `4-9`. */
export function textOfSteps(steps: readonly number[]): string {
  const ranges: { readonly from: number; to: number }[] = [];
  for (const step of steps) {
    const last = ranges.at(-1);
    if (last?.to === step - 1) last.to = step;
    else ranges.push({ from: step, to: step });
  }
  return ranges.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join();
}

export function stepsOf(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [from = '', to = from] = range.split('-');
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
  });
}
