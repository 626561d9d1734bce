import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineWatch } from '../../scripts/machine-watch.ts';
import { until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';

test('a machine that stood still for more than a second was disturbed', async () => {
  const machine = new MachineWatch();
  try {
    // To the timers of this process it is the same whether the machine or only the process stands still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_300);
    await until(() => machine.disturbance() !== null);
    assert.match(machine.disturbance() ?? '', /^The machine stood still for up to \d+\.\d s, its disk needed /);
  } finally {
    machine.stop();
  }
});

test('a machine is calm after five fast probes in a row', async () => {
  const tookMs = [10, 10, 10, /* The waiting begins. */ 10, 400, 10, 12, 29, 10, 10];
  const machine = new MachineWatch(() => tookMs.shift() ?? assert.fail('the machine was calm before'));
  try {
    await machine.untilCalm(hangMs);
    assert.deepEqual(tookMs, []);
  } finally {
    machine.stop();
  }
});

test('waiting for a calm machine ends after its limit', async () => {
  const tookMs = [10, 10, 10];
  const machine = new MachineWatch(() => tookMs.shift() ?? 400);
  try {
    // It would wait forever without the limit.
    await machine.untilCalm(1_500);
  } finally {
    machine.stop();
  }
});
