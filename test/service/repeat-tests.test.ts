import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passAlone, type Repetition } from '../../scripts/repeat-tests.ts';

interface Attempt {
  readonly passes: boolean;
  readonly isDisturbed: boolean;
}

const passes: Attempt = { passes: true, isDisturbed: false };
const failsDisturbed: Attempt = { passes: false, isDisturbed: true };
const failsCalm: Attempt = { passes: false, isDisturbed: false };

/** Repeats files whose attempts are given. */
async function repeat(
  attempts: Readonly<Record<string, readonly Attempt[]>>,
): Promise<{ passed: boolean; ran: string[] }> {
  const ran: string[] = [];
  let current: Attempt = passes;
  const repetition: Repetition = {
    run: async (file) => {
      current = attempts[file]?.[ran.filter((name) => name === file).length] ?? assert.fail(`${file} ran too often`);
      ran.push(file);
      return current.passes;
    },
    watch: () => ({
      disturbance: () => (current.isDisturbed ? 'The machine stood still' : null),
      stop: () => undefined,
    }),
    untilCalm: async () => undefined,
    print: () => undefined,
  };
  return { passed: await passAlone(Object.keys(attempts), repetition), ran };
}

test('a file that passes alone has passed', async () => {
  assert.deepEqual(await repeat({ a: [passes], b: [failsDisturbed, passes] }), { passed: true, ran: ['a', 'b', 'b'] });
});

test('a file that fails while the machine runs well has failed', async () => {
  assert.deepEqual(await repeat({ a: [failsCalm], b: [passes] }), { passed: false, ran: ['a', 'b'] });
});

test('a file that fails in each attempt has failed', async () => {
  const always = [failsDisturbed, failsDisturbed, failsDisturbed, failsDisturbed];
  assert.deepEqual(await repeat({ a: always }), { passed: false, ran: ['a', 'a', 'a', 'a'] });
});

test('after three files that failed while the machine ran well, no other runs again', async () => {
  const attempts = { a: [failsDisturbed], b: [failsCalm], c: [failsCalm], d: [failsCalm], e: [] };
  assert.deepEqual(await repeat(attempts), { passed: false, ran: ['a', 'b', 'c', 'd'] });
});
