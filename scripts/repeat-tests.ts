import type { MachineWatch } from './machine-watch.ts';

/** What a repetition needs: in tests, neither test files nor a disturbed machine. */
export interface Repetition {
  /** Runs one test file alone, and returns whether it passed. */
  run(file: string): Promise<boolean>;
  /** Watches the machine while a file runs. */
  watch(): Pick<MachineWatch, 'disturbance' | 'stop'>;
  /** Waits for a better moment. */
  untilCalm(): Promise<void>;
  print(line: string): void;
}

const maxAttempts = 5;
/** After so many files that failed on a machine that ran well, the cause is in the code. */
const mostFailed = 3;
/** No attempt begins later. */
const longestMs = 3_600_000;

/**
 * Tests of real time limits say nothing about the code if the machine stood still meanwhile. So files that failed on a disturbed machine
 * run again, one at a time. A file has failed if a test fails while the machine runs well, or in each of its attempts. Returns whether
 * all passed.
 */
export async function passAlone(files: readonly string[], repetition: Repetition): Promise<boolean> {
  const end = performance.now() + longestMs;
  const failed: string[] = [];
  const isOver = (): boolean => failed.length >= mostFailed || performance.now() > end;
  let left = [...files];
  for (let attempt = 2; attempt <= maxAttempts && left.length > 0 && !isOver(); attempt += 1) {
    repetition.print(`These files failed and run again, alone: ${left.join(', ')}.`);
    const again: string[] = [];
    for (const file of left) {
      if (isOver()) {
        again.push(file);
        continue;
      }
      await repetition.untilCalm();
      const machine = repetition.watch();
      const passed = await repetition.run(file);
      const disturbance = machine.disturbance();
      machine.stop();
      if (!passed) (disturbance === null ? failed : again).push(file);
      repetition.print(
        `${file} ${passed ? 'passed' : 'failed'} when it ran alone. ${disturbance ?? 'The machine ran well'}.`,
      );
    }
    left = again;
  }
  failed.push(...left);
  if (failed.length > 0) repetition.print(`Failed again: ${failed.join(', ')}.`);
  return failed.length === 0;
}
