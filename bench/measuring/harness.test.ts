import assert from 'node:assert/strict';
import test from 'node:test';
import { median, run } from './harness.ts';

test('the median is the middle value, or the mean of the middle two', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
  assert.throws(() => median([]), /median of an empty list/);
});

test('a comparison warms up both sides, alternates who goes first and ignores the warm-up', async () => {
  const order: string[] = [];
  const side = (name: string, values: readonly number[]) => {
    const left = [...values];
    return async () => {
      order.push(name);
      return left.shift() ?? assert.fail('measured more often than expected');
    };
  };
  const { x: outcome } = await run(
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

test('a limit is missed when the median exceeds it, not when one round does', async () => {
  const values = [0, 1, 9, 2];
  const limit = {
    name: 'x',
    unit: 's',
    measure: async () => values.shift() ?? assert.fail('measured more often than expected'),
  };
  assert.equal((await run({ ...limit, atMost: 2 }, 3))['x']?.reached, true);
  values.push(0, 9, 1, 9);
  assert.equal((await run({ ...limit, atMost: 2 }, 3))['x']?.reached, false);
});

test('in a contest all sides run in each round, and each peer gets its own outcome', async () => {
  const order: string[] = [];
  const rate = (name: string, value: number) => async () => {
    order.push(name);
    return value;
  };
  const peers = [
    { name: 'p', rate: rate('p', 10), atLeast: 0.5 },
    { name: 'q', rate: rate('q', 4), atLeast: 2 },
  ];
  const outcomes = await run({ name: 'x', unit: '1/s', ours: rate('o', 6), peers }, 3);
  assert.deepEqual(order.join(''), 'opqopqpqoqop');
  assert.deepEqual(Object.keys(outcomes), ['x, against p', 'x, against q']);
  assert.deepEqual(outcomes['x, against p'], {
    unit: '1/s',
    ours: 6,
    peer: 10,
    ratio: 0.6,
    target: 0.5,
    reached: true,
    rounds: { ours: [6, 6, 6], peer: [10, 10, 10] },
  });
  assert.equal(outcomes['x, against q']?.ratio, 1.5);
  assert.equal(outcomes['x, against q']?.reached, false);
});

test('each figure of a load is checked against its own limit', async () => {
  const rounds = [
    [9, 9],
    [1, 7],
    [3, 5],
    [2, 6],
  ];
  const measure = async () => rounds.shift() ?? assert.fail('measured more often than expected');
  const limits = [
    { name: 'p50', atMost: 2 },
    { name: 'p99', atMost: 5 },
  ];
  const { p50, p99 } = await run({ unit: 'ms', limits, measure }, 3);
  assert.deepEqual([p50?.ours, p50?.reached, p50?.rounds.ours], [2, true, [1, 3, 2]]);
  assert.deepEqual([p99?.ours, p99?.reached, p99?.rounds.ours], [6, false, [7, 5, 6]]);
});

test('each larger size is compared with the smallest, figure by figure, and may cost so much more', async () => {
  const order: string[] = [];
  const size = (name: string, values: readonly number[]) => ({
    name,
    measure: async () => {
      order.push(name);
      return values;
    },
  });
  const outcomes = await run(
    {
      figures: [
        { name: 'time', unit: 'ms' },
        { name: 'statements', unit: 'statements' },
      ],
      sizes: [size('1', [10, 2]), size('2', [11, 2]), size('4', [12, 3])],
      atMost: 1.15,
    },
    3,
  );
  assert.deepEqual(order.join(''), '124124241412');
  assert.deepEqual(
    Object.entries(outcomes).map(([name, { ratio, reached }]) => [name, ratio, reached]),
    [
      ['time, 2 against 1', 1.1, true],
      ['time, 4 against 1', 1.2, false],
      ['statements, 2 against 1', 1, true],
      ['statements, 4 against 1', 1.5, false],
    ],
  );
});

test('a run with fewer than three rounds is rejected', async () => {
  await assert.rejects(run({ name: 'x', unit: 's', measure: async () => 1, atMost: 2 }, 2), /2 rounds/);
});
