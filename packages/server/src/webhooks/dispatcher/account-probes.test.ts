import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountProbes } from './account-probes.ts';

test('a new account is probed at once, and one with empty probes less and less often, but always again', () => {
  const probes = new AccountProbes<string>();
  assert.equal(probes.due(0), null);
  probes.request('a');
  assert.deepEqual(probes.due(0), { accounts: ['a'] });
  probes.record(['a'], new Set(), 0);
  assert.equal(probes.due(5), null);
  let now = 5;
  for (const backoffMs of [20, 40, 80, 160, 250, 250]) {
    probes.request('a');
    const due = probes.due(now);
    assert.deepEqual(due, { inMs: backoffMs - 5 });
    now += backoffMs - 5;
    assert.deepEqual(probes.due(now), { accounts: ['a'] });
    probes.record(['a'], new Set(), now);
    now += 5;
  }
});

test('a successful probe or a long quiet time resets the backoff of an account', () => {
  const probes = new AccountProbes<string>();
  for (const account of ['a', 'b']) probes.request(account);
  probes.due(0);
  probes.record(['a', 'b'], new Set(['a']), 0);
  for (const account of ['a', 'b']) probes.request(account);
  assert.deepEqual(probes.due(1), { accounts: ['a'] });
  probes.prune(6_000);
  assert.deepEqual(probes.due(6_000), { accounts: ['b'] });
});

test('an account whose probe failed is probed again', () => {
  const probes = new AccountProbes<string>();
  probes.request('a');
  probes.due(0);
  probes.putBack(['a']);
  assert.deepEqual(probes.due(0), { accounts: ['a'] });
});
