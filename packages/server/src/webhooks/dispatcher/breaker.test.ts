import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Breaker } from './breaker.ts';

function failing(times: number, now = 0): Breaker {
  const breaker = new Breaker();
  for (let time = 0; time < times; time += 1) breaker.unanswered(now);
  return breaker;
}

test('the breaker opens after five unanswered requests in a row, and any answer resets the count', () => {
  assert.equal(failing(4).state(0), 'closed');
  assert.equal(failing(5).state(0), 'open');
  const breaker = failing(4);
  breaker.answered();
  breaker.unanswered(0);
  assert.equal(breaker.state(0), 'closed');
});

test('the breaker is half open after a pause that doubles up to a minute, and an answer closes it', () => {
  const breaker = failing(5);
  assert.equal(breaker.state(999), 'open');
  assert.equal(breaker.state(1_000), 'half_open');
  let now = 1_000;
  for (const pause of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    breaker.unanswered(now);
    assert.equal(breaker.state(now + pause - 1), 'open');
    now += pause;
    assert.equal(breaker.state(now), 'half_open');
  }
  breaker.answered();
  assert.equal(breaker.state(now), 'closed');
  // The count starts again.
  for (let time = 0; time < 5; time += 1) breaker.unanswered(now);
  assert.equal(breaker.state(now + 1_000), 'half_open');
});

test('requests that were in flight when the breaker opened do not make the pause longer', () => {
  const breaker = failing(20);
  assert.equal(breaker.state(1_000), 'half_open');
});
