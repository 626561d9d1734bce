import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcessorTimes } from './processor-times.ts';

/**
 * Only `.ci/run` uses this: it runs the command `npm test` on a virtual machine whose host may take the processors away for minutes.
 * Tests of real time limits say nothing about the code then. So this script waits for a calm moment before it starts, and if tests failed
 * while the machine was disturbed, it runs the failed files again, one at a time. What fails on a machine that runs well has failed, and
 * so has everything that fails in each attempt. The script prints all that it does.
 *
 * It repeats whole files instead of using `--test-rerun-failures`, which loads every file again and takes each test of the same name and
 * line that passed before as passed.
 */
const attempts = 4;
/** How long all waits for a calm machine may take together: disturbances take some minutes. */
let waitsLeftMs = 2_400_000;
/** The machine is calm if its host takes less than this share of a second of work. */
const calmShare = 0.1;
/** The machine was disturbed if its host took more than this share in the whole attempt: more than noise. */
const disturbedShare = 0.05;
/** The machine was also disturbed if a timer was so late: this process has nothing else to do. */
const stallMs = 1_000;
const tickMs = 100;
/** `npm test` ends with this code if nothing but tests failed. */
const testsFailed = 1;

const [program = 'npm', ...commandArgs] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'usher-ci-'));
try {
  process.exitCode = await runUntilClear();
} finally {
  rmSync(folder, { recursive: true });
}

async function runUntilClear(): Promise<number> {
  let files: string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    await untilCalm();
    const { code, failed, disturbance } = await run(files);
    if (attempt > 1)
      say(
        `the ${files.length} files that had failed ${code === 0 ? 'passed' : 'did not all pass'}: ${files.join(', ')}`,
      );
    if (code === 0) return 0;
    if (code !== testsFailed || failed.length === 0) return code;
    if (disturbance === null) return stop(code, 'the machine ran well, so the failures count');
    say(disturbance);
    if (attempt === attempts) return stop(code, `the files failed in ${attempts} attempts`);
    say(`RUNNING AGAIN, one at a time, what failed on a disturbed machine: ${failed.join(', ')}`);
    files = failed;
  }
}

function stop(code: number, reason: string): number {
  say(reason);
  return code;
}

/** Runs the command, or only these files with it. */
async function run(files: readonly string[]) {
  const report = join(folder, 'failed');
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push('--test-reporter=./scripts/failed-files.ts', `--test-reporter-destination=${report}`);
  const limits = files.length === 0 ? [] : ['--test-concurrency=1'];
  rmSync(report, { force: true });
  const machine = watchMachine();
  const child = spawn(program, [...commandArgs, '--', ...reporters, ...limits, ...files], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code: code ?? 2, failed: linesOf(report), disturbance: machine.disturbance() };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

/** Watches the machine until `disturbance` is called, which says what was wrong, or `null`. */
function watchMachine() {
  const began = readProcessorTimes();
  let last = performance.now();
  let longestStallMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longestStallMs = Math.max(longestStallMs, now - last - tickMs);
    last = now;
  }, tickMs);
  return {
    disturbance(): string | null {
      clearInterval(timer);
      const stolen = stolenShare(began);
      if (stolen < disturbedShare && longestStallMs < stallMs) return null;
      return `the host took ${Math.round(stolen * 100)} % of the processors away, and the machine stood still for up to ${(longestStallMs / 1000).toFixed(1)} s`;
    },
  };
}

/** The share of the processor time wanted since `then` that the host gave to others. */
function stolenShare(then: ReturnType<typeof readProcessorTimes>): number {
  const now = readProcessorTimes();
  const stolen = now.stolen - then.stolen;
  return stolen / Math.max(1, stolen + now.busy - then.busy);
}

/** A machine that wants no processor time does not show how much it would get, so this works for a second and then rests for one. */
async function untilCalm(): Promise<void> {
  const began = performance.now();
  while (performance.now() - began < waitsLeftMs) {
    const then = readProcessorTimes();
    const workedUntil = performance.now() + 1_000;
    while (performance.now() < workedUntil);
    if (stolenShare(then) < calmShare) break;
    await sleep(1_000);
  }
  const waitedMs = performance.now() - began;
  waitsLeftMs -= waitedMs;
  if (waitedMs > 2_000) say(`waited ${Math.round(waitedMs / 1000)} s for a calm machine`);
}

function say(text: string): void {
  console.error(`\n=== SHARED MACHINE: ${text}. ===\n`);
}
