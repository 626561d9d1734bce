import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { globSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run as runFiles } from 'node:test';
import { spec } from 'node:test/reporters';
import { codeChecks, formatCheck, run, runChecks } from './checks.ts';

/**
 * Everything `npm test` stands for. With names of test files as arguments it runs those alone, without the checks. Otherwise the
 * checks run beside the tests, two at a time and at the lowest priority: they use the processor while tests wait, and change
 * no test's timing.
 */
const lowestPriority = 19;

// Every test file is a process of its own, and most of them load the whole server: what it compiles to is kept, as a start does.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
const files = process.argv.slice(2);
const hasTools = await run(process.execPath, ['scripts/install-test-tools.ts']);

/** A file that takes longer hangs. The longest, bench/entries.test.ts, takes a third of this beside four others. */
const longestFileMs = 600_000;
const long =
  /\/(entries|oldest-postgres|access|garbage|start|sample-data|delivery-ledger|[\w-]+-faults|theory|leaving|firefox|webkit)\.test\.ts$/;
const everything = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/*.test.ts'];
const lanes = files.length === 0 ? [codeChecks, [formatCheck]] : [];
const checks = lanes.map(async (lane) => runChecks(lane, lowestPriority));
const testsPassed = await runTests(files.length === 0 ? everything : files);
const failedChecks = (await Promise.all(checks)).flat();
if (failedChecks.length > 0) console.error(`These checks failed: ${failedChecks.join(', ')}.`);
process.exitCode = hasTools && testsPassed && failedChecks.length === 0 ? 0 : 1;

/**
 * Test files run side by side, each on a database of its own; more at once than this only makes them wait for each other. Those
 * known to be long come first, then the largest: so none is left over at the end, and those in a browser do not all come together.
 */
async function runTests(patterns: readonly string[]): Promise<boolean> {
  const weight = (file: string): number => statSync(file).size + (long.test(file) ? 1e9 : 0);
  const found = globSync(patterns).toSorted((one, other) => weight(other) - weight(one));
  if (found.length === 0) {
    console.error(`There is no test file ${patterns.join(', ')}.`);
    return false;
  }
  const options = { files: found, concurrency: 5, globalSetupPath: resolve('test/setup.ts') };
  subscribe('child_process', (message) => endIfHanging((message as { process: ChildProcess }).process));
  let passed = true;
  const tests = runFiles(options).on('test:fail', () => {
    passed = false;
  });
  await pipeline(tests, new spec(), process.stdout, { end: false });
  return passed;
}

/**
 * Node's runner limits the time of a test but not of its file: a file that leaves something open, or blocks, would keep the run
 * from ending. Node announces every process that it starts on this channel.
 */
function endIfHanging(child: ChildProcess): void {
  child.once('spawn', () => {
    const file = child.spawnargs.at(-1);
    // PostgreSQL is started by this process, too, and runs until the end.
    if (file?.endsWith('.test.ts') !== true) return;
    const timer = setTimeout(() => {
      console.error(`${file} still ran after ${longestFileMs / 1000} s and was ended.`);
      child.kill('SIGKILL');
      // What the file started may have inherited its output and hold it open.
      child.stdout?.destroy();
    }, longestFileMs);
    child.once('exit', () => clearTimeout(timer));
  });
}
