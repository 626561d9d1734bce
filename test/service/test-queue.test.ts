import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { forEachPaced } from '../../scripts/test-queue.ts';

test('no more than the limit of the moment runs at once, and always at least one', async () => {
  let limit = 3;
  let running = 0;
  const seen: number[] = [];
  const ready = async (): Promise<void> => undefined;
  await forEachPaced([1, 2, 3, 4, 5, 6], { limit: () => limit, ready }, async (item) => {
    running += 1;
    seen.push(running);
    if (item === 3) limit = 0;
    await new Promise((next) => setImmediate(next));
    running -= 1;
  });
  assert.deepEqual(seen, [1, 2, 3, 1, 1, 1]);
});

test('files that failed are returned, and all results are printed with one summary', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'usher-test-queue-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, source: string): string => {
    writeFileSync(join(folder, name), source);
    return join(folder, name);
  };
  const good = write('good.test.mjs', `import { test } from 'node:test';\ntest('works', () => {});\n`);
  const bad = write(
    'bad.test.mjs',
    `import { test } from 'node:test';\ntest('outer', async (t) => t.test('inner', () => { throw new Error('broken'); }));\n`,
  );
  const dead = write('dead.test.mjs', 'process.exit(3);\n');
  const main = write(
    'main.mjs',
    `import { runTestFiles } from ${JSON.stringify(resolve('scripts/test-queue.ts'))};
console.log(JSON.stringify(await runTestFiles(${JSON.stringify([good, bad, dead])}, { limit: () => 2, ready: async () => undefined })));\n`,
  );
  // Node's runner does nothing inside a test of its own.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env });
  assert.deepEqual(new Set(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')), new Set([bad, dead]));
  for (const line of ['✔ works', '✖ inner', 'ℹ tests 4', 'ℹ pass 1', 'ℹ fail 3'])
    assert.ok(stdout.includes(line), line);
  assert.equal(stdout.match(/ℹ tests/g)?.length, 1);
});
