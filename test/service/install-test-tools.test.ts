import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installMissing, isRequired, type Tool } from '../../scripts/install-test-tools.ts';

/** A machine on which some commands bring a tool, and the commands that were run there. */
function machine(brings: Readonly<Record<string, string>>) {
  const installed = new Set<string>();
  const ran: string[] = [];
  const run = (command: readonly string[]): void => {
    const text = command.join(' ');
    ran.push(text);
    if (brings[text] !== undefined) installed.add(brings[text]);
  };
  const tool = (name: string, ways: readonly string[]): Tool => ({
    name,
    find: () => (installed.has(name) ? `/usr/bin/${name}` : null),
    ways: ways.map((way) => way.split(' ')),
    advice: '',
  });
  return { installed, ran, run, tool };
}

test('a missing tool is installed by the first way that brings it, and the lists of apt are fetched once', () => {
  const { ran, run, tool } = machine({ 'apt-get install b': 'browser', 'apt-get install pool': 'pool' });
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

test('nothing is run for a tool that is there', () => {
  const { installed, ran, run, tool } = machine({});
  installed.add('pool');
  assert.deepEqual(installMissing([tool('pool', ['apt-get install pool'])], true, run), []);
  assert.deepEqual(ran, []);
});

test('without apt a tool that only apt brings stays missing, and is named', () => {
  const { ran, run, tool } = machine({ 'apt-get install pool': 'pool' });
  const missing = installMissing([tool('pool', ['apt-get install pool'])], false, run);
  assert.deepEqual(
    missing.map(({ name }) => name),
    ['pool'],
  );
  assert.deepEqual(ran, []);
});

test('a run without an optional tool fails in CI alone', () => {
  const { tool } = machine({});
  const pool = tool('pool', []);
  const optional: Tool = { ...tool('browser', []), isOptional: true };
  assert.deepEqual(
    [isRequired(pool, false), isRequired(pool, true), isRequired(optional, false), isRequired(optional, true)],
    [true, true, false, true],
  );
});
