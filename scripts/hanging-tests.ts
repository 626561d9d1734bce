import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { resolve } from 'node:path';
import type { TestsStream } from 'node:test';

/** A file or a group of files that takes longer hangs. The longest, bench/entries.test.ts, takes a sixth of this on a quiet machine. */
const maxFileMs = 1_200_000;
/** When its tests are done, a file has this time to stop what it has started. A test that failed may have left a server open. */
const maxEndMs = 120_000;

interface RunningFile {
  readonly child: ChildProcess;
  timer: NodeJS.Timeout;
  /** Tests of the file itself that have not ended, without those inside them. */
  pending: number;
}

const running = new Map<string, RunningFile>();

/** Files whose tests had all ended when they were killed. */
export const endedLate = new Set<string>();

/**
 * Kills test files that hang. Node's runner limits the time of a test but not of its file, so a file that leaves a handle open, or
 * blocks, would keep the run from ending. Node publishes every child process on a diagnostics channel.
 */
export function killHangingFiles(): void {
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once('spawn', () => {
      const file = child.spawnargs.at(-1);
      // This process also starts PostgreSQL, which must run until the end.
      if (file === undefined || !/\.test\.m?ts$/.test(file)) return;
      const name = resolve(file);
      running.set(name, { child, timer: killAfter(child, maxFileMs), pending: 0 });
      child.once('exit', () => {
        clearTimeout(running.get(name)?.timer);
        running.delete(name);
      });
    });
  });
}

/** Notices when all tests of a file have ended but the file has not. */
export function watchTests(tests: TestsStream): void {
  const count = (change: 1 | -1) => (test: { readonly file?: string | undefined; readonly nesting: number }) => {
    const file = test.nesting === 0 && test.file !== undefined ? running.get(resolve(test.file)) : undefined;
    if (file === undefined) return;
    file.pending += change;
    clearTimeout(file.timer);
    file.timer = killAfter(file.child, file.pending === 0 ? maxEndMs : maxFileMs, () => {
      if (file.pending === 0) endedLate.add(resolve(file.child.spawnargs.at(-1) ?? ''));
    });
  };
  tests.on('test:enqueue', count(1));
  tests.on('test:complete', count(-1));
}

function killAfter(child: ChildProcess, ms: number, note = (): void => undefined): NodeJS.Timeout {
  return setTimeout(() => {
    note();
    console.error(`${child.spawnargs.at(-1)} was killed: it did not end within ${ms / 1000} s.`);
    child.kill('SIGKILL');
    // Child processes of the file may have inherited its output and keep it open.
    child.stdout?.destroy();
  }, ms).unref();
}
