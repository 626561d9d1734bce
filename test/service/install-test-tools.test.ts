import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { installMissing, tools, withoutTools, type Tool } from '../../scripts/install-test-tools.ts';

/** A fake machine on which some commands install a tool; it records the commands. */
function fakeMachine(installs: Readonly<Record<string, string>>) {
  const installed = new Set<string>();
  const ran: string[] = [];
  const run = (command: readonly string[]): void => {
    const text = command.join(' ');
    ran.push(text);
    if (installs[text] !== undefined) installed.add(installs[text]);
  };
  const tool = (name: string, installers: readonly string[]): Tool => ({
    name,
    find: () => (installed.has(name) ? `/usr/bin/${name}` : null),
    installers: installers.map((command) => command.split(' ')),
    advice: '',
  });
  return { installed, ran, run, tool };
}

test('a missing tool is installed by the first command that provides it, and the package lists of apt are fetched once', () => {
  const { ran, run, tool } = fakeMachine({ 'apt-get install b': 'browser', 'apt-get install pool': 'pool' });
  const browser = tool('browser', ['fetch it', 'apt-get install a', 'apt-get install b', 'apt-get install c']);
  const missing = installMissing([browser, tool('pool', ['apt-get install pool'])], true, run);
  assert.deepEqual(missing, []);
  assert.deepEqual(ran, [
    'fetch it',
    'apt-get update',
    'apt-get install a',
    'apt-get install b',
    'apt-get install pool',
  ]);
});

test('no command runs for a tool that is installed', () => {
  const { installed, ran, run, tool } = fakeMachine({});
  installed.add('pool');
  assert.deepEqual(installMissing([tool('pool', ['apt-get install pool'])], true, run), []);
  assert.deepEqual(ran, []);
});

test('without apt a tool that only apt provides stays missing and is named', () => {
  const { ran, run, tool } = fakeMachine({ 'apt-get install pool': 'pool' });
  const missing = installMissing([tool('pool', ['apt-get install pool'])], false, run);
  assert.deepEqual(
    missing.map(({ name }) => name),
    ['pool'],
  );
  assert.deepEqual(ran, []);
});

const allTests = globSync('test/**/*.test.ts').toSorted();

test('without Chromium, the tests run that need no browser', () => {
  const left = withoutTools(
    allTests,
    tools.filter(({ name }) => name === 'Chromium'),
  );
  assert.ok(left.includes('test/service/every-route.test.ts'));
  assert.deepEqual(
    left.filter((file) => file.startsWith('test/console/') && readFileSync(file, 'utf8').includes('openBrowser(')),
    [],
  );
  assert.ok(left.length > allTests.length / 2 && left.length < allTests.length);
});

test('every pattern of a tool matches a test file, and no file is left out if all tools are installed', () => {
  for (const tool of tools.filter(({ usedBy }) => usedBy !== undefined))
    assert.ok(withoutTools(allTests, [tool]).length < allTests.length, tool.name);
  assert.deepEqual(withoutTools(allTests, []), allTests);
});
