import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyClock, stepToleranceMs } from './steady-clock.ts';

const start = Date.UTC(2027, 0, 4);

/** A reading that took 10 ms around this moment of the monotonic clock. */
const readingAt = (monotonic: number) => ({ from: monotonic - 5, to: monotonic + 5 });

function clockAt(monotonic: number): SteadyClock {
  const clock = new SteadyClock();
  clock.restart({ at: start + monotonic, shiftMs: 0 }, readingAt(monotonic));
  return clock;
}

test('a clock that runs evenly has no step, however long it was not read', () => {
  const clock = clockAt(0);
  for (const later of [500, 60_000, 40 * 86_400_000])
    assert.equal(clock.stepOf({ at: start + later, shiftMs: 0 }, readingAt(later)), 0);
});

test('a step has the size by which the clock was set, and is gone once it is recorded', () => {
  for (const stepMs of [3_600_000, -3_600_000, 86_400_000, -86_400_000]) {
    const clock = clockAt(0);
    const found = clock.stepOf({ at: start + 500 + stepMs, shiftMs: 0 }, readingAt(500));
    assert.ok(Math.abs(found - stepMs) <= 10, `${found}`);
    assert.equal(clock.stepOf({ at: start + 1_000 + stepMs, shiftMs: found }, readingAt(1_000)), 0);
    // Another process recorded a step that did not happen: it must be reverted.
    assert.ok(Math.abs(clock.stepOf({ at: start + 1_000, shiftMs: stepMs }, readingAt(1_000)) + stepMs) <= 10);
  }
});

test('a clock that drifts is followed, and drift does not add up to a step', () => {
  const clock = clockAt(0);
  for (let tick = 1; tick < 100; tick += 1) {
    const monotonic = tick * 500;
    const reading = { at: start + monotonic + tick * 1_000, shiftMs: 0 };
    assert.equal(clock.stepOf(reading, readingAt(monotonic)), 0);
    clock.follow(reading, readingAt(monotonic));
  }
});

test('a slow reading reports no step that its duration explains', () => {
  const clock = clockAt(0);
  const look = { from: 500, to: 20_500 };
  for (const at of [500, 10_000, 20_500]) assert.equal(clock.stepOf({ at: start + at, shiftMs: 0 }, look), 0);
  assert.notEqual(clock.stepOf({ at: start + 20_500 + stepToleranceMs + 100, shiftMs: 0 }, look), 0);
  assert.notEqual(clock.stepOf({ at: start + 500 - stepToleranceMs - 100, shiftMs: 0 }, look), 0);
});
