import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyClock, stepToleranceMs } from './steady-clock.ts';

const start = Date.UTC(2027, 0, 4);

/** A look that took 10 ms, at that moment of the process's clock. */
const lookAt = (monotonic: number) => ({ from: monotonic - 5, to: monotonic + 5 });

function clockAt(monotonic: number): SteadyClock {
  const clock = new SteadyClock();
  clock.restart({ at: start + monotonic, shiftMs: 0 }, lookAt(monotonic));
  return clock;
}

test('a clock that runs on has no step, however long nobody looked', () => {
  const clock = clockAt(0);
  for (const later of [500, 60_000, 40 * 86_400_000])
    assert.equal(clock.stepOf({ at: start + later, shiftMs: 0 }, lookAt(later)), 0);
});

test('a step is as large as the clock was set, and none once it is recorded', () => {
  for (const stepMs of [3_600_000, -3_600_000, 86_400_000, -86_400_000]) {
    const clock = clockAt(0);
    const found = clock.stepOf({ at: start + 500 + stepMs, shiftMs: 0 }, lookAt(500));
    assert.ok(Math.abs(found - stepMs) <= 10, `${found}`);
    assert.equal(clock.stepOf({ at: start + 1_000 + stepMs, shiftMs: found }, lookAt(1_000)), 0);
    // Recorded by somebody although the clock runs on: it must be taken back.
    assert.ok(Math.abs(clock.stepOf({ at: start + 1_000, shiftMs: stepMs }, lookAt(1_000)) + stepMs) <= 10);
  }
});

test('a clock that drifts is followed, and drift does not add up to a step', () => {
  const clock = clockAt(0);
  for (let tick = 1; tick < 100; tick += 1) {
    const monotonic = tick * 500;
    const reading = { at: start + monotonic + tick * 1_000, shiftMs: 0 };
    assert.equal(clock.stepOf(reading, lookAt(monotonic)), 0);
    clock.follow(reading, lookAt(monotonic));
  }
});

test('a look that took long finds no step that its length explains', () => {
  const clock = clockAt(0);
  const look = { from: 500, to: 20_500 };
  for (const at of [500, 10_000, 20_500]) assert.equal(clock.stepOf({ at: start + at, shiftMs: 0 }, look), 0);
  assert.notEqual(clock.stepOf({ at: start + 20_500 + stepToleranceMs + 100, shiftMs: 0 }, look), 0);
  assert.notEqual(clock.stepOf({ at: start + 500 - stepToleranceMs - 100, shiftMs: 0 }, look), 0);
});
