import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { groupTestFiles } from '../../scripts/test-groups.ts';

const files = globSync(['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/*.test.ts']).toSorted();
const groups = groupTestFiles(files);

test('npm test runs every test file exactly once', () => {
  assert.deepEqual(groups.flatMap((group) => group.files).toSorted(), files);
  const names = groups.filter((group) => group.files.length > 1).map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

test('a test file that changes its process shares it with no other', () => {
  const shared = new Set(groups.filter((group) => group.files.length > 1).flatMap((group) => group.files));
  for (const file of ['test/events/new-event-type.test.ts', 'packages/server/src/feed/admission.test.ts'])
    assert.ok(!shared.has(file), file);
});

test('busy test files share few processes, and those that wait are in small groups', () => {
  const groupWith = (file: string): string => groups.find((group) => group.files.includes(file))?.name ?? '';
  for (const file of ['test/identity/sign-in.test.ts', 'test/queues/queues.test.ts', 'test/webhooks/stats.test.ts'])
    assert.match(groupWith(file), /^busy tests \d$/);
  assert.match(groupWith('test/platform/faults.test.ts'), /^platform \d$/);
  assert.match(groupWith('test/console/queues.test.ts'), /^console \d$/);
});

test('the longest test file starts first', () => {
  assert.ok(
    groups
      .slice(0, 2)
      .flatMap((group) => group.files)
      .includes('bench/entries.test.ts'),
  );
});

test('groups that mostly wait start before those in a browser, so that none of them runs alone at the end', () => {
  const names = groups.map(({ name }) => name);
  const lastWaiting = names.findLastIndex((name) => /^(platform|webhooks) \d$/.test(name));
  const firstBrowser = names.findIndex((name) => /^(console|widget) \d$/.test(name));
  assert.ok(lastWaiting !== -1 && lastWaiting < firstBrowser, names.join(', '));
});
