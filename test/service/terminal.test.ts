import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { afterEach, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { connect, type DatabaseAddress } from '../../packages/server/src/platform/database/database.ts';
import { serverProgram } from '../../scripts/built.mjs';
import { urlOf } from '../support/processes/cluster.ts';
import { cloneDatabase, emptyDatabase } from '../support/database/database.ts';
import { freePort } from '../support/network/free-port.ts';
import { temporaryDirectory, UsherProcess } from '../support/processes/process.ts';
import { findProgram } from '../support/processes/programs.ts';
import { call, until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';

const script = findProgram('script');
const skip = script === null ? 'the program script (util-linux) is not installed' : false;
const launched: UsherProcess[] = [];
afterEach(async () => {
  for (const usher of launched.splice(0)) await usher.stop('SIGKILL');
});

/** What somebody sees who starts Usher on a terminal. `output` has both standard output and standard error. */
async function startOnTerminal(environment: Readonly<Record<string, string>>): Promise<UsherProcess> {
  const port = await freePort();
  const child = spawn(script ?? '', ['-qec', `exec ${process.execPath} ${serverProgram()} serve`, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', PORT: String(port), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const usher = new UsherProcess(child, port);
  launched.push(usher);
  await until(() => usher.output.includes('Try it:') || child.exitCode !== null, hangMs);
  return usher;
}

async function pressCtrlC(usher: UsherProcess): Promise<string> {
  usher.child.stdin?.write('\u{3}');
  assert.equal(await usher.ended(), 0, usher.output);
  return usher.output;
}

/** The lines of the log, without their times. */
function logLines(output: string): string[] {
  return [...stripVTControlCharacters(output).matchAll(/^(?:\^C)?\d\d:\d\d:\d\d (.*?)\r?$/gm)].map(
    ([, line = '']) => line,
  );
}

test('a terminal shows the first key and stays quiet after it', { skip }, async (t) => {
  const directory = temporaryDirectory();
  t.after(() => directory.remove());
  const usher = await startOnTerminal({ DATABASE_URL: urlOf(await emptyDatabase()), USHER_DATA_DIR: directory.path });
  const text = usher.output.slice(usher.output.indexOf('Usher is ready'));
  assert.match(text, /secret {2}usk_/);
  assert.match(text, /Log {6}only warnings and errors; USHER_LOG=info also shows requests/);
  assert.equal((await call(usher, 'GET /sites')).status, 401);
  const [created, stopping, stopped, ...more] = logLines(await pressCtrlC(usher));
  assert.match(created ?? '', /^creating the schema of a new database schema=\d+$/);
  assert.match(`${stopping}\n${stopped}`, /^stopping reason=SIGINT\nstopped ms=\d+$/);
  assert.deepEqual(more, []);
  assert.doesNotMatch(usher.output, /"level"/);
});

/** A migrated database that a process has just used, so that a start does not report that none was there for long. */
async function databaseInUse(): Promise<DatabaseAddress> {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 1 });
  await sql`UPDATE clock SET seen_at = clock_timestamp()`;
  await sql.end();
  return address;
}

test('USHER_LOG=info shows requests on a terminal, in colour unless NO_COLOR is set', { skip }, async (t) => {
  const directory = temporaryDirectory();
  t.after(() => directory.remove());
  const settings = { DATABASE_URL: urlOf(await databaseInUse()), USHER_DATA_DIR: directory.path, USHER_LOG: 'info' };
  for (const isPlain of [false, true]) {
    const usher = await startOnTerminal({ ...settings, ...(isPlain ? { NO_COLOR: '1' } : {}) });
    assert.doesNotMatch(usher.output, /only warnings and errors/);
    assert.equal((await call(usher, 'GET /sites')).status, 401);
    const output = await pressCtrlC(usher);
    assert.match(
      logLines(output).join('\n'),
      /^started url=http\S+ .*\n(?:.*\n)*GET \/sites 401 \w+ \d+\.\d ms\nstopping /,
    );
    assert.equal(output.includes('\u{1b}[33m401'), !isPlain, output);
    if (isPlain) assert.ok(!output.includes('\u{1b}'), output);
  }
});
