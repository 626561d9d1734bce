import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { hangMs } from '../support/slowness.ts';
import { startTestPostgres } from '../support/database/test-postgres.ts';

/**
 * Runs tests again on the oldest PostgreSQL that Usher supports. The short form runs the tests with a tag: the SQL of every route, a delivery
 * and an engagement. The long form runs every test that needs no browser, and the long form of the garbage test.
 */
const isLong = process.env['PROVE'] !== undefined;
const maxMs = isLong ? 1_800_000 : hangMs;

/** What the names of tests end with that the short form runs. Node's runner has no other tags. */
const tag = '#oldest';

const directory = temporaryDirectory();
const postgres = await forThisFile(startTestPostgres(directory.path, 'oldest'));
after(async () => {
  directory.remove();
});

interface RunOptions {
  /** A pattern of Node's test runner. */
  readonly names?: string;
  readonly form?: 'short' | 'long';
}

/** Runs the files in separate processes and prints their figures; returns how many tests passed. All of them must pass. */
async function runOnOldest(files: readonly string[], signal: AbortSignal, { names, form = 'short' }: RunOptions = {}) {
  // With NODE_TEST_CONTEXT set, a test runner behaves as a test file of another runner.
  const { NODE_TEST_CONTEXT: _context, PROVE: seed, ...others } = process.env;
  const inherited = form === 'long' ? { ...others, PROVE: seed } : others;
  const patterns = names === undefined ? [] : [`--test-name-pattern=${names}`];
  const child = spawn(
    process.execPath,
    ['--test', `--test-concurrency=${isLong ? 2 : 1}`, '--test-reporter=tap', ...patterns, ...files],
    { env: { ...inherited, ...postgres.environment }, stdio: ['ignore', 'pipe', 'inherit'], signal },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(code, 0, output);
  for (const [, figures] of output.matchAll(/^ *# (\{".*)$/gm)) console.log(figures);
  return Number(/^# pass (\d+)$/m.exec(output)?.[1]);
}

if (isLong) {
  test('no garbage makes an operation answer with a 5xx on the oldest PostgreSQL', { timeout: maxMs }, async (t) => {
    assert.ok((await runOnOldest(['test/service/garbage.test.ts'], t.signal, { form: 'long' })) > 100);
  });

  const exclude = ['test/{call,console,widget}/*.test.ts', 'test/service/oldest-postgres.test.ts'];
  test('every test without a browser passes on the oldest PostgreSQL', { timeout: maxMs }, async (t) => {
    const passed = await runOnOldest(globSync('test/**/*.test.ts', { exclude }), t.signal);
    t.diagnostic(`${passed} tests passed on the oldest PostgreSQL`);
    assert.ok(passed > 1_000);
  });
} else {
  test(
    'the SQL of every route, a delivery and an engagement run on the oldest PostgreSQL',
    { timeout: maxMs },
    async (t) => {
      const tagged = globSync('test/**/*.test.ts', { exclude: ['test/service/oldest-postgres.test.ts'] })
        .map((file) => ({ file, count: readFileSync(file, 'utf8').split(`${tag}'`).length - 1 }))
        .filter(({ count }) => count > 0);
      const expected = tagged.reduce((sum, { count }) => sum + count, 0);
      assert.ok(expected >= 5, `only ${expected} tests have the tag ${tag}`);
      const passed = await runOnOldest(
        tagged.map(({ file }) => file),
        t.signal,
        { names: tag },
      );
      t.diagnostic(`${passed} tests passed on the oldest PostgreSQL`);
      // Every route is a test inside one of them.
      assert.ok(passed > expected + 100, `only ${passed} tests passed`);
    },
  );
}
