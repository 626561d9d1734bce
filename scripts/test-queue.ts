import { relative, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { watchTests } from './hanging-tests.ts';

/**
 * Settings of V8 for test processes. Such a process lives for seconds and makes much garbage: with a young generation that starts
 * large, and without threads that collect garbage in parallel, the same tests use about an eighth less processor time.
 */
const testProcessFlags = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
  '--single-threaded-gc',
  `--import=${new URL('running-test.ts', import.meta.url).href}`,
];
/** How often the limit is asked for again while it keeps files from starting. */
const askAgainMs = 2_000;

type Summary = Extract<TestEvent, { type: 'test:summary' }>['data'];

/** When the next file may start. */
export interface Pace {
  /** How many files may run at the moment: Node's runner has a fixed limit. */
  limit(): number;
  /** Waits until a file may start. */
  ready(): Promise<void>;
}

/**
 * Runs test files, each in a process of its own, and returns those in which a test failed. The output of a file is printed when the file
 * has ended.
 */
export async function runTestFiles(entries: readonly string[], pace: Pace): Promise<string[]> {
  const failed = new Set<string>();
  const report = new PassThrough({ objectMode: true });
  const printed = pipeline(report, new spec(), process.stdout, { end: false });
  const summaries: Summary[] = [];
  const began = performance.now();
  await forEachPaced(entries, pace, async (entry) => {
    for (const event of await runTestFile(entry)) {
      if (event.type === 'test:fail' && !onlyContainsFailed(event)) failed.add(fileOfFailure(event));
      // Events without a file belong to the run of this file as a whole.
      if (event.type === 'test:summary' && event.data.file === undefined) summaries.push(event.data);
      else if (!isTotal(event)) report.write(event);
    }
  });
  reportTotals(report, summaries, performance.now() - began);
  report.end();
  await printed;
  return [...failed].map((file) => (entries.includes(file) ? file : relative('', file)));
}

async function runTestFile(entry: string): Promise<TestEvent[]> {
  const tests = run({ files: [entry], execArgv: testProcessFlags });
  watchTests(tests);
  return Array.fromAsync(tests as AsyncIterable<TestEvent>);
}

type Failure = Extract<TestEvent, { type: 'test:fail' }>;

/** Whether the test only contains tests that failed; they are reported, too. */
function onlyContainsFailed({ data }: Failure): boolean {
  return (data.details.error as { failureType?: string }).failureType === 'subtestsFailed';
}

/** A file that cannot be loaded fails as the test of its group that is named after it. */
function fileOfFailure({ data: { name, file } }: Failure): string {
  return resolve(name.endsWith('.test.ts') ? name : (file ?? name));
}

function isTotal(event: TestEvent): boolean {
  return event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined;
}

/** Prints what Node prints at the end of a run, for all files together. */
function reportTotals(report: PassThrough, summaries: readonly Summary[], durationMs: number): void {
  const sum = (name: keyof Summary['counts']): number =>
    summaries.reduce((total, { counts }) => total + counts[name], 0);
  const [tests, pass, cancelled, skipped] = [sum('tests'), sum('passed'), sum('cancelled'), sum('skipped')];
  const fail = tests - pass - cancelled - skipped - sum('todo');
  for (const [title, total] of Object.entries({ tests, pass, fail, cancelled, skipped, duration_ms: durationMs }))
    report.write({ type: 'test:diagnostic', data: { nesting: 0, message: `${title} ${total}`, level: 'info' } });
  report.write({ type: 'test:summary', data: { success: fail === 0, file: undefined } });
}

/** Calls `use` for each item, for several at a time as the pace allows: always at least one. */
export async function forEachPaced<T>(items: readonly T[], pace: Pace, use: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  for (const item of items) {
    while (running.size > 0 && running.size >= pace.limit()) await Promise.race([...running, pause(askAgainMs)]);
    await pace.ready();
    const one: Promise<void> = use(item).finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
