import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Loop } from './loop.ts';

/** A loop whose rounds end when the test says so. */
function loopWithManualRounds(pauseMs: number) {
  const rounds: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const loop = new Loop({
    round: async () => {
      const round = Promise.withResolvers<void>();
      rounds.push(round);
      return round.promise;
    },
    onFailure: (error) => failures.push(error),
    pauseMs,
  });
  return { loop, rounds, failures };
}

test('rounds do not overlap, and however often the loop is woken during a round, one more follows', async () => {
  const { loop, rounds } = loopWithManualRounds(0);
  loop.wake();
  for (let times = 0; times < 3; times += 1) loop.wake();
  assert.equal(rounds.length, 1);
  rounds[0]?.resolve();
  await turn();
  assert.equal(rounds.length, 2);
  rounds[1]?.resolve();
  await turn();
  assert.equal(rounds.length, 2);
  loop.wake();
  assert.equal(rounds.length, 3);
});

test('after a failed round the next one starts after the pause, or at once when the loop is woken', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { loop, rounds, failures } = loopWithManualRounds(250);
  loop.wake();
  // A request during the failing round does not shorten the pause.
  loop.wake();
  rounds[0]?.reject(new Error('away'));
  await turn();
  assert.deepEqual([rounds.length, failures.length], [1, 1]);
  t.mock.timers.tick(249);
  assert.equal(rounds.length, 1);
  t.mock.timers.tick(1);
  assert.equal(rounds.length, 2);
  rounds[1]?.reject(new Error('away'));
  await turn();
  loop.wake();
  assert.equal(rounds.length, 3);
});

test('the earliest of several wake-ups starts the round', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { loop, rounds } = loopWithManualRounds(0);
  loop.wakeWithin(50);
  loop.wakeWithin(5);
  loop.wakeWithin(100);
  t.mock.timers.tick(5);
  assert.equal(rounds.length, 1);
});

test('a stopped loop finishes its round and starts no other', async () => {
  const { loop, rounds } = loopWithManualRounds(0);
  loop.wake();
  loop.wake();
  const stopped = loop.stop();
  rounds[0]?.resolve();
  await stopped;
  loop.wake();
  loop.wakeWithin(0);
  await turn();
  assert.equal(rounds.length, 1);
});
