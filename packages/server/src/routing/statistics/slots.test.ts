import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';
import { StatisticsSlots } from './slots.ts';

const limits = { perAccount: 2, running: 2, waiting: 2, maxWaitMs: 60_000 };

/** Runs a statistic that takes until `finish`. */
function ask(slots: StatisticsSlots, account: string) {
  const read = Promise.withResolvers<string>();
  let hasBegun = false;
  const answer = slots
    .run(account as AccountId, async () => {
      hasBegun = true;
      return read.promise;
    })
    .catch((error: unknown) => (error instanceof Refusal ? error.code : Promise.reject(error as Error)));
  return { answer, hasBegun: () => hasBegun, finish: () => read.resolve('read'), fail: () => read.reject(new Refusal('forbidden', 'No.')) }; // prettier-ignore
}

test('an account may have two running or waiting statistics; other accounts are not affected', async () => {
  const slots = new StatisticsSlots(limits);
  const [one, two] = [ask(slots, 'a'), ask(slots, 'a')];
  assert.equal(await ask(slots, 'a').answer, 'rate_limited');
  const other = ask(slots, 'b');
  one.finish();
  assert.equal(await one.answer, 'read');
  other.finish();
  assert.equal(await other.answer, 'read');
  const again = ask(slots, 'a');
  for (const each of [two, again]) each.finish();
  assert.deepEqual(await Promise.all([two.answer, again.answer]), ['read', 'read']);
});

test('waiting statistics start in order of arrival, also after one that failed', async () => {
  const slots = new StatisticsSlots(limits);
  const asked = ['a', 'a', 'b', 'b'].map((account) => ask(slots, account));
  const [one, two, three, four] = asked;
  await turn();
  assert.deepEqual(asked.map((each) => each.hasBegun()), [true, true, false, false]); // prettier-ignore
  assert.equal(await ask(slots, 'c').answer, 'too_busy');
  one?.fail();
  assert.equal(await one?.answer, 'forbidden');
  three?.finish();
  assert.equal(await three?.answer, 'read');
  two?.finish();
  four?.finish();
  assert.deepEqual(await Promise.all([two?.answer, four?.answer]), ['read', 'read']);
});

test('a statistic that has waited too long is refused and takes no slot', async () => {
  const slots = new StatisticsSlots({ ...limits, running: 1, maxWaitMs: 1 });
  const first = ask(slots, 'a');
  const late = ask(slots, 'b');
  assert.equal(await late.answer, 'too_busy');
  assert.equal(late.hasBegun(), false);
  first.finish();
  await first.answer;
  const next = ask(slots, 'b');
  next.finish();
  assert.equal(await next.answer, 'read');
});
