import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asking } from './asking.ts';

test('what is new is asked for at once, what was asked for in vain less and less often, and never forgotten', () => {
  const asking = new Asking<string>();
  assert.equal(asking.due(0), null);
  asking.want('a');
  assert.deepEqual(asking.due(0), { accounts: ['a'] });
  asking.answer(['a'], new Set(), 0);
  assert.equal(asking.due(5), null);
  let now = 5;
  for (const quiet of [20, 40, 80, 160, 250, 250]) {
    asking.want('a');
    const due = asking.due(now);
    assert.deepEqual(due, { inMs: quiet - 5 });
    now += quiet - 5;
    assert.deepEqual(asking.due(now), { accounts: ['a'] });
    asking.answer(['a'], new Set(), now);
    now += 5;
  }
});

test('one that had something, and one that was quiet for long, is as new', () => {
  const asking = new Asking<string>();
  for (const account of ['a', 'b']) asking.want(account);
  asking.due(0);
  asking.answer(['a', 'b'], new Set(['a']), 0);
  for (const account of ['a', 'b']) asking.want(account);
  assert.deepEqual(asking.due(1), { accounts: ['a'] });
  asking.forget(6_000);
  assert.deepEqual(asking.due(6_000), { accounts: ['b'] });
});

test('what could not be asked is asked again', () => {
  const asking = new Asking<string>();
  asking.want('a');
  asking.due(0);
  asking.putBack(['a']);
  assert.deepEqual(asking.due(0), { accounts: ['a'] });
});
