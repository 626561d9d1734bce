import assert from 'node:assert/strict';
import test from 'node:test';
import { median, run } from './harness.ts';

test('the median is the middle value, or the mean of the middle two', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
  assert.throws(() => median([]), /no median/);
});

test('a comparison warms both up, lets them take turns and does not count the warm-up', async () => {
  const order: string[] = [];
  const side = (name: string, values: readonly number[]) => {
    const left = [...values];
    return async () => {
      order.push(name);
      return left.shift() ?? assert.fail('asked once too often');
    };
  };
  const outcome = await run(
    {
      name: 'x',
      unit: '1/s',
      ours: side('ours', [1000, 6, 8, 7]),
      peer: side('peer', [1000, 10, 9, 11]),
      atLeast: 0.7,
    },
    3,
  );
  assert.deepEqual(order, ['ours', 'peer', 'ours', 'peer', 'peer', 'ours', 'ours', 'peer']);
  assert.deepEqual(outcome, {
    unit: '1/s',
    ours: 7,
    peer: 10,
    ratio: 0.7,
    target: 0.7,
    reached: true,
    rounds: { ours: [6, 8, 7], peer: [10, 9, 11] },
  });
});

test('a limit is missed by the median, not by one round', async () => {
  const values = [0, 1, 9, 2];
  const limit = { name: 'x', unit: 's', measure: async () => values.shift() ?? assert.fail('asked once too often') };
  assert.equal((await run({ ...limit, atMost: 2 }, 3)).reached, true);
  values.push(0, 9, 1, 9);
  assert.equal((await run({ ...limit, atMost: 2 }, 3)).reached, false);
});

test('fewer than three rounds are refused', async () => {
  await assert.rejects(run({ name: 'x', unit: 's', measure: async () => 1, atMost: 2 }, 2), /2 rounds/);
});
