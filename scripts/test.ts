import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { codeChecks, formatCheck, run, runChecks } from './checks.ts';
import { endedLate, killHangingFiles } from './hanging-tests.ts';
import { missingTools, withoutTools } from './install-test-tools.ts';
import { MachineWatch } from './machine-watch.ts';
import { passAlone } from './repeat-tests.ts';
import { groupTestFiles, writeEntry } from './test-groups.ts';
import { runTestFiles, type Pace } from './test-queue.ts';

/**
 * `npm test`: all tests and checks. With test files as arguments, it runs only those files and no checks. `--install-browser` installs
 * the programs that tests need; `--once` gives tests no second attempt (see `repeatTests`). Checks run in parallel with the tests, two at a
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
 * How many files run in parallel: a higher number only makes them wait for each other and exceed limits of time. The more of its
 * processor time the machine loses, the fewer. A file that starts while it loses more than half fails in vain.
 */
const pace: Pace = {
  limit() {
    const lost = machine.lostLately();
    return lost < 0.1 ? 4 : lost < 0.3 ? 2 : 1;
  },
  async ready() {
    if (machine.lostLately() > 0.5) await untilCalm();
  },
};
/** How long all waits for a calm machine may take together. Disturbances take some minutes. */
let maxWaitMs = 2_400_000;
const allTests = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/*.test.ts'];
const lanes = files.length === 0 ? [codeChecks, [formatCheck]] : [];
const checks = lanes.map(async (lane) => runChecks(lane, lowestPriority));
killHangingFiles();
const machine = new MachineWatch();
await globalSetup();
try {
  const failedFiles = await runTests(files.length === 0 ? allTests : files);
  const failedChecks = (await Promise.all(checks)).flat();
  const testsPassed = failedFiles.length === 0 || (!options.includes(once) && (await repeatTests(failedFiles)));
  if (failedChecks.length > 0) console.error(`Failed checks: ${failedChecks.join(', ')}.`);
  process.exitCode = hasTools && testsPassed && failedChecks.length === 0 ? 0 : 1;
} finally {
  await globalTeardown();
  machine.stop();
}

/**
 * Runs test files in parallel, each on its own database, and returns those that failed. Files that are named as arguments each have a
 * process; all others share processes in groups. The groups that take longest run first, so that no long group runs alone at the end.
 */
async function runTests(patterns: readonly string[]): Promise<string[]> {
  const isNamed = patterns === files;
  const matching = globSync(patterns);
  const found = isNamed ? matching : withoutTools(matching, missingTools());
  if (found.length < matching.length)
    console.error(`${matching.length - found.length} of ${matching.length} test files need tools that are missing.`);
  if (found.length === 0) throw new Error(`no test file matches ${patterns.join(', ')}`);
  if (isNamed) return runTestFiles(found, pace);
  const folder = mkdtempSync(join(tmpdir(), 'usher-test-groups-'));
  try {
    const filesOf = new Map(groupTestFiles(found).map((group) => [writeEntry(folder, group), group.files]));
    const failed = await runTestFiles([...filesOf.keys()], pace);
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

/** A machine that ran well gives no second attempt: a test that fails now and then is a bug. */
async function repeatTests(failed: readonly string[]): Promise<boolean> {
  const disturbance = machine.disturbance();
  if (disturbance === null) return false;
  console.error(`${disturbance}.`);
  return passAlone(failed, {
    run: async (file) => (await runTestFiles([file], pace)).length === 0,
    watch: () => new MachineWatch(),
    untilCalm,
    print: (line) => console.error(line),
  });
}

async function untilCalm(): Promise<void> {
  const began = performance.now();
  await machine.untilCalm(maxWaitMs);
  const waitedMs = performance.now() - began;
  maxWaitMs = Math.max(0, maxWaitMs - waitedMs);
  console.error(`Waited ${Math.round(waitedMs / 1000)} s for a calm machine.`);
}

function partition(args: readonly string[]): [options: string[], files: string[]] {
  const isOption = (arg: string): boolean => arg.startsWith('--');
  const unknown = args.find((arg) => isOption(arg) && arg !== install && arg !== once);
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}; npm test knows ${install} and ${once}`);
  return [args.filter(isOption), args.filter((arg) => !isOption(arg))];
}
