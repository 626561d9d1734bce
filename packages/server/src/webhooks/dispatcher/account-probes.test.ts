import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountProbes } from './account-probes.ts';

test('what is new is last for at once, what was last for in vain less and less often, and never forgotten', () => {
  const asking = new AccountProbes<string>();
  assert.equal(asking.due(0), null);
  asking.request('a');
  assert.deepEqual(asking.due(0), { accounts: ['a'] });
  asking.record(['a'], new Set(), 0);
  assert.equal(asking.due(5), null);
  let now = 5;
  for (const quiet of [20, 40, 80, 160, 250, 250]) {
    asking.request('a');
    const due = asking.due(now);
    assert.deepEqual(due, { inMs: quiet - 5 });
    now += quiet - 5;
    assert.deepEqual(asking.due(now), { accounts: ['a'] });
    asking.record(['a'], new Set(), now);
    now += 5;
  }
});

test('one that had something, and one that was quiet for long, is as new', () => {
  const asking = new AccountProbes<string>();
  for (const account of ['a', 'b']) asking.request(account);
  asking.due(0);
  asking.record(['a', 'b'], new Set(['a']), 0);
  for (const account of ['a', 'b']) asking.request(account);
  assert.deepEqual(asking.due(1), { accounts: ['a'] });
  asking.prune(6_000);
  assert.deepEqual(asking.due(6_000), { accounts: ['b'] });
});

test('what could not be last is last again', () => {
  const asking = new AccountProbes<string>();
  asking.request('a');
  asking.due(0);
  asking.putBack(['a']);
  assert.deepEqual(asking.due(0), { accounts: ['a'] });
});
