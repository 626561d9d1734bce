import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineWatch } from '../../scripts/machine-watch.ts';
import { until } from '../support/server.ts';

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
