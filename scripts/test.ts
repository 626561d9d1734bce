import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run as runFiles } from 'node:test';
import { spec } from 'node:test/reporters';
import { codeChecks, formatCheck, run, runChecks } from './checks.ts';
import { endedLate, killHangingFiles, watchTests } from './hanging-tests.ts';
import { missingTools, withoutTools } from './install-test-tools.ts';
import { MachineWatch } from './machine-watch.ts';
import { groupTestFiles, writeEntry } from './test-groups.ts';

/**
 * `npm test`: all tests and checks. With test files as arguments, it runs only those files and no checks. `--install-browser` installs
 * the programs that tests need; `--once` gives tests no second attempt (see `passAlone`). Checks run in parallel with the tests, two at a
 * time and at the lowest priority, so that they use idle processor time and do not slow down tests.
 */
const lowestPriority = 19;

const install = '--install-browser';
/** Without a second attempt. */
const once = '--once';

// Every test file runs in its own process, and most load the whole server: the compile cache saves most of the start-up time.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
const [options, files] = partition(process.argv.slice(2));
const hasTools = await run(process.execPath, [
  'scripts/install-test-tools.ts',
  ...options.filter((option) => option === install),
]);

/**
 * Settings of V8 for test processes. Such a process lives for seconds and makes much garbage: with a young generation that starts
 * large, and without threads that collect garbage in parallel, the same tests use about an eighth less processor time.
 */
const testProcessFlags = ['--min-semi-space-size=32', '--max-semi-space-size=64', '--single-threaded-gc'];
/** If more files fail, the cause is in the code. */
const mostRepeated = 40;
const maxAttempts = 3;
const allTests = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/*.test.ts'];
const lanes = files.length === 0 ? [codeChecks, [formatCheck]] : [];
const checks = lanes.map(async (lane) => runChecks(lane, lowestPriority));
killHangingFiles();
const machine = new MachineWatch();
const failedFiles = await runTests(files.length === 0 ? allTests : files);
const failedChecks = (await Promise.all(checks)).flat();
const testsPassed = failedFiles.length === 0 || (!options.includes(once) && (await passAlone(failedFiles)));
machine.stop();
if (failedChecks.length > 0) console.error(`Failed checks: ${failedChecks.join(', ')}.`);
process.exitCode = hasTools && testsPassed && failedChecks.length === 0 ? 0 : 1;

/**
 * Runs test files in parallel, each on its own database, and returns those that failed. A higher concurrency only makes them wait for
 * each other, and exceed limits of time. Files that are named as arguments each have a process; all others share processes in groups.
 * The groups that take longest run first, so that no long group runs alone at the end.
 */
async function runTests(patterns: readonly string[]): Promise<string[]> {
  const isNamed = patterns === files;
  const matching = globSync(patterns);
  const found = isNamed ? matching : withoutTools(matching, missingTools());
  if (found.length < matching.length)
    console.error(`${matching.length - found.length} of ${matching.length} test files need tools that are missing.`);
  if (found.length === 0) {
    console.error(`No test file matches ${patterns.join(', ')}.`);
    process.exit(1);
  }
  if (isNamed) return runProcesses(found);
  const folder = mkdtempSync(join(tmpdir(), 'usher-test-groups-'));
  try {
    const filesOf = new Map(groupTestFiles(found).map((group) => [writeEntry(folder, group), group.files]));
    const failed = await runProcesses([...filesOf.keys()]);
    return [...new Set(failed.flatMap((file) => causesOf(file, filesOf.get(file) ?? [file], failed)))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * If a group fails as a whole, because it hung or its process ended, each of its files may be the cause. If it only did not end after
 * its tests, those that failed left something open.
 */
function causesOf(entry: string, files: readonly string[], failed: readonly string[]): readonly string[] {
  const own = files.filter((file) => failed.includes(file));
  return endedLate.has(entry) && own.length > 0 ? own : files;
}

/**
 * Tests of real time limits say nothing about the code if the machine stood still meanwhile. Then, and only then, the files that failed
 * run again, one at a time. A machine that ran well has no second attempt: a test that fails now and then is a bug.
 */
async function passAlone(failed: readonly string[]): Promise<boolean> {
  let left = [...failed];
  for (let attempt = 2; left.length > 0 && left.length <= mostRepeated && attempt <= maxAttempts; attempt += 1) {
    const disturbance = machine.disturbance();
    if (disturbance === null) return false;
    console.error(`${disturbance}. These files failed and run again, alone: ${left.join(', ')}.`);
    const failedAgain: string[] = [];
    // Each in a run of its own, because Node sets up the database once in a process.
    for (const file of left)
      if (!(await run(process.execPath, ['scripts/test.ts', once, file]))) failedAgain.push(file);
    left = failedAgain;
  }
  const recovered = failed.filter((file) => !left.includes(file));
  if (recovered.length > 0) console.error(`Passed when they ran alone: ${recovered.join(', ')}.`);
  if (left.length > 0) console.error(`Failed again: ${left.join(', ')}.`);
  return left.length === 0;
}

/** Runs test files, and returns those in which a test failed. */
async function runProcesses(entries: readonly string[]): Promise<string[]> {
  const failed = new Set<string>();
  const setup = { globalSetupPath: resolve('test/setup.ts'), execArgv: testProcessFlags };
  const tests = runFiles({ files: entries, concurrency: 4, ...setup });
  watchTests(tests);
  tests.on('test:fail', ({ file, name, details }) => {
    // A test that only contains tests that failed; they are reported, too.
    if ((details.error as { failureType?: string }).failureType === 'subtestsFailed') return;
    // A file that cannot be loaded fails as the test of its group that is named after it.
    failed.add(resolve(name.endsWith('.test.ts') ? name : (file ?? name)));
  });
  await pipeline(tests, new spec(), process.stdout, { end: false });
  return [...failed].map((file) => (entries.includes(file) ? file : relative('', file)));
}

function partition(args: readonly string[]): [options: string[], files: string[]] {
  const isOption = (arg: string): boolean => arg.startsWith('--');
  const unknown = args.find((arg) => isOption(arg) && arg !== install && arg !== once);
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}; npm test knows ${install} and ${once}`);
  return [args.filter(isOption), args.filter((arg) => !isOption(arg))];
}
