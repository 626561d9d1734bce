import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/process.ts';
import { hangMs } from '../support/slowness.ts';
import { startTestPostgres } from '../support/test-postgres.ts';

/**
 * Runs tests again on the oldest PostgreSQL that Usher supports. The short form runs the SQL of every route and one test of each
 * kind of background work. The long form runs every test that needs no browser, and the long form of the garbage test.
 */
const isLong = process.env['PROVE'] !== undefined;
const maxMs = isLong ? 1_800_000 : hangMs;

/** Tests of background work, named by the beginning of their names. */
const backgroundWork: Readonly<Record<string, readonly string[]>> = {
  'test/webhooks/delivery.test.ts': [
    'an event is sent as stored, with the method and headers of the webhook and a valid signature',
  ],
  'test/webhooks/delivery-failures.test.ts': [
    'D8.7: later deliveries wait for a failing one until it has failed three times',
  ],
  'test/webhooks/recovery.test.ts': ['a recovery requeues held and exhausted deliveries of its time range'],
  'test/webhooks/replay.test.ts': ['replaying a finished or held delivery makes it due at once'],
  'test/feed/feed-resume.test.ts': ['a reader who resumes is sent what they missed, once, by any process'],
  'test/routing/routing.test.ts': ['a visitor waits, is offered, engaged and ends', 'D4.5 an offer times out'],
  'test/routing/board-reads.test.ts': ['each interval of a series equals the stats of the queue'],
  'test/sample/sample-data.test.ts': [
    'an account has no sample data at first; it is created once, and the caller sees all of it',
  ],
  'test/identity/sign-in.test.ts': [
    'every sign-in method gives a token and a session that is exchanged for further tokens',
  ],
  'test/engagements/sms.test.ts': [
    'a conversation by SMS: the request is delivered, the reply accepts it, and messages go both ways',
  ],
  'test/engagements/visitor-authentication.test.ts': ['a valid token authenticates the visitor'],
};

const directory = temporaryDirectory();
const postgres = await forThisFile(startTestPostgres(directory.path, 'oldest'));
after(async () => {
  directory.remove();
});

interface RunOptions {
  readonly names?: readonly string[];
  readonly form?: 'short' | 'long';
}

/** Runs the files in separate processes and prints their figures; returns how many tests passed. All of them must pass. */
async function runOnOldest(
  files: readonly string[],
  signal: AbortSignal,
  { names = [], form = 'short' }: RunOptions = {},
) {
  // With NODE_TEST_CONTEXT set, a test runner behaves as a test file of another runner.
  const { NODE_TEST_CONTEXT: _context, PROVE: seed, ...others } = process.env;
  const inherited = form === 'long' ? { ...others, PROVE: seed } : others;
  const patterns = names.map((name) => `--test-name-pattern=/^${name.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}/`);
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
    const passed = await runOnOldest(globSync('test/*/*.test.ts', { exclude }), t.signal);
    t.diagnostic(`${passed} tests passed on the oldest PostgreSQL`);
    assert.ok(passed > 1_000);
  });
} else {
  test('the SQL of every route runs on the oldest PostgreSQL', { timeout: maxMs }, async (t) => {
    assert.ok((await runOnOldest(['test/service/every-route.test.ts'], t.signal)) > 100);
  });

  test('background work runs on the oldest PostgreSQL', { timeout: maxMs }, async (t) => {
    for (const [file, names] of Object.entries(backgroundWork))
      for (const name of names)
        assert.ok(
          readFileSync(file, 'utf8').includes(`test('${name}`),
          `choose another test of ${file} than "${name}"`,
        );
    const names = Object.values(backgroundWork).flat();
    const passed = await runOnOldest(Object.keys(backgroundWork), t.signal, { names });
    t.diagnostic(`${passed} tests passed, of ${names.length} that were named`);
    assert.ok(passed >= names.length);
  });
}
