import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { hangMs } from '../support/slowness.ts';

// Node's runner does nothing inside a test of its own.
const { NODE_TEST_CONTEXT: _context, ...env } = process.env;

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'usher-test-runner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs Node and returns its exit code. */
async function node(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<number> {
  const running = promisify(execFile)(process.execPath, args, { env: { ...env, ...more } });
  await running.catch(() => null);
  return running.child.exitCode ?? assert.fail('killed');
}

test('the reporter of failed files names each file that failed, also if it could not be loaded', async (t) => {
  const folder = temporaryFolder(t);
  const sources: Readonly<Record<string, string>> = {
    good: `import { test } from 'node:test'; test('works', () => {});`,
    bad: `import { test } from 'node:test'; test('outer', async (t) => t.test('inner', () => { throw new Error('broken'); }));`,
    dead: 'process.exit(3);',
  };
  const paths = Object.entries(sources).map(([name, source]) => {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, source);
    return path;
  });
  const report = join(folder, 'failed');
  const reporter = ['--test-reporter=./scripts/failed-files.ts', `--test-reporter-destination=${report}`];
  assert.equal(await node(['--test', ...reporter, ...paths]), 1);
  const failed = readFileSync(report, 'utf8').trim().split('\n');
  assert.deepEqual(
    new Set(failed),
    new Set(['bad', 'dead'].map((name) => relative('', join(folder, `${name}.test.mjs`)))),
  );
});

/**
 * A command in the place of `npm test`. Each attempt ends with the next code and writes the failed files. The first one stops the script
 * that started it for longer than a second, which is the same to the script as a machine that stands still.
 */
const command = `
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const { LOG, CODES } = process.env;
const args = process.argv.slice(2);
const files = args.filter((arg) => arg.endsWith('.test.ts'));
appendFileSync(LOG, JSON.stringify(files) + '\\n');
const attempt = readFileSync(LOG, 'utf8').trim().split('\\n').length;
const report = args.findLast((arg) => arg.startsWith('--test-reporter-destination=')).split('=')[1];
writeFileSync(report, 'a.test.ts\\nb.test.ts\\n');
process.kill(process.ppid, 'SIGSTOP');
setTimeout(() => {
  process.kill(process.ppid, 'SIGCONT');
  process.exitCode = JSON.parse(CODES)[attempt - 1];
}, 2_000);
`;

/** Runs the script with a command whose attempts end with these codes. Returns the files of each attempt. */
async function onDisturbedMachine(t: TestContext, codes: readonly number[]) {
  const folder = temporaryFolder(t);
  const path = join(folder, 'command.mjs');
  const log = join(folder, 'log');
  writeFileSync(path, command);
  const code = await node(['scripts/on-shared-machine.ts', process.execPath, path], {
    LOG: log,
    CODES: JSON.stringify(codes),
  });
  const ran: string[][] = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, ran };
}

const failedFiles = ['a.test.ts', 'b.test.ts'];

test('files that failed on a disturbed machine run again, and nothing else', { timeout: hangMs }, async (t) => {
  assert.deepEqual(await onDisturbedMachine(t, [1, 0]), { code: 0, ran: [[], failedFiles] });
});

test('files that fail in each of four attempts have failed', { timeout: hangMs }, async (t) => {
  const { code, ran } = await onDisturbedMachine(t, [1, 1, 1, 1]);
  assert.equal(code, 1);
  assert.deepEqual(ran, [[], failedFiles, failedFiles, failedFiles]);
});

test('nothing runs again if a check failed, or if all passed', { timeout: hangMs }, async (t) => {
  assert.deepEqual(await onDisturbedMachine(t, [2]), { code: 2, ran: [[]] });
  assert.deepEqual(await onDisturbedMachine(t, [0]), { code: 0, ran: [[]] });
});
