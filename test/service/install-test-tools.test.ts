import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installMissing, isRequired, type Tool } from '../../scripts/install-test-tools.ts';

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

test('a missing optional tool fails the run only in CI', () => {
  const { tool } = fakeMachine({});
  const pool = tool('pool', []);
  const optional: Tool = { ...tool('browser', []), isOptional: true };
  assert.deepEqual(
    [isRequired(pool, false), isRequired(pool, true), isRequired(optional, false), isRequired(optional, true)],
    [true, true, false, true],
  );
});
