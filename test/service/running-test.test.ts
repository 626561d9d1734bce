import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { writeEntry } from '../../scripts/test-groups.ts';

/** Runs test files with these sources in one process, as `npm test` does. Returns the printed report. */
async function runGroup(t: TestContext, sources: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'usher-running-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = sources.map((source, index) => {
    const file = join(folder, `file-${index + 1}.test.mjs`);
    writeFileSync(file, `import { after, test } from 'node:test';\n${source}`);
    return file;
  });
  const entry = writeEntry(folder, { name: 'group', files, weight: 0 });
  const main = join(folder, 'main.mjs');
  writeFileSync(
    main,
    `import { runTestFiles } from ${JSON.stringify(resolve('scripts/test-queue.ts'))};
await runTestFiles([${JSON.stringify(entry)}], { limit: () => 1, ready: async () => undefined });\n`,
  );
  // Node's runner does nothing inside a test of its own.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env });
  return stdout.replaceAll(/ \([\d.]+ms\)/g, '');
}

const file = `
await new Promise((resolve) => setTimeout(resolve, 1));
after(() => console.log('closes', import.meta.url.slice(-10)));
test('begins', () => console.log('begins', import.meta.url.slice(-10)));
`;

test('tests and hooks belong to the file that calls them after an await', async (t) => {
  const report = await runGroup(t, [file, file]);
  const order = [...report.matchAll(/^(?:begins|closes) .*$/gm)].map(([line]) => line);
  assert.deepEqual(order, ['begins 1.test.mjs', 'closes 1.test.mjs', 'begins 2.test.mjs', 'closes 2.test.mjs']);
  assert.equal(report.match(/^ {2}✔ begins$/gm)?.length, 2);
});

const uncaught = `
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
test('passes before', pause);
test('throws in a timer', async () => { setTimeout(() => { throw new Error('late'); }, 1); await pause(); });
test('rejects in a promise', async () => { void pause().then(() => { throw new Error('later'); }); await pause(); await pause(); });
test('has a test that throws', async (t) => {
  await t.test('throws in a microtask', async () => { queueMicrotask(() => { throw new Error('soon'); }); await pause(); });
  await t.test('passes inside', pause);
});
test('passes after', pause);
`;

test('an error that is not caught fails the test that caused it, and no other', async (t) => {
  const report = await runGroup(t, [uncaught, file]);
  const results = (mark: string): Set<string> =>
    new Set([...report.matchAll(new RegExp(`^ +${mark} (.*)$`, 'gm'))].map(([, name = '']) => name));
  assert.deepEqual(results('✔'), new Set(['passes before', 'passes inside', 'passes after', 'begins']));
  for (const name of ['throws in a timer', 'rejects in a promise', 'throws in a microtask'])
    assert.ok(results('✖').has(name), name);
});

const promises = `
import { executionAsyncId } from 'node:async_hooks';
const idLater = async () => { await null; return executionAsyncId(); };
test('compares ids', async () => {
  const [one, other] = await Promise.all([idLater(), idLater()]);
  console.log(one === other ? 'no hook' : 'a hook');
});
`;

test('V8 calls no hook for the promises of a test', async (t) => {
  assert.match(await runGroup(t, [promises, file]), /^no hook$/m);
});
