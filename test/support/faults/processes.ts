import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '../processes/programs.ts';
import { until } from '../server.ts';
import type { Fault, FaultRun } from './fault.ts';
import type { Slot } from './slot.ts';

/** Shorter than a start: about half of the kills hit the process that is starting, the others the one that works. */
const killPauseMs = 400;
/** Together far more than a process has free. A body may have 1 MiB. */
const bodiesAtOnce = 200;
const bodyBytes = 1_000_000;
/** Leases of webhook destinations last 15 s. */
const frozenMs = 20_000;

/** The processes take turns. */
export function slotOf({ world, round }: FaultRun): Slot {
  return world.slots[round % world.slots.length] ?? assert.fail('there is no process');
}

export const processFaults: readonly Fault[] = [
  {
    name: 'A process is killed',
    world: 'durable',
    times: { short: 6, long: 1_000 },
    async inject({ world, load, random }) {
      await pause(random.below(killPauseMs));
      const slot = random.pick(world.slots);
      // A process that has just ended on its own cannot be killed.
      await until(() => slot.kill());
      // Otherwise the processes of a busy machine would be killed before they have done anything.
      await load.goesOn(1);
    },
  },
  {
    name: 'A process is frozen past its leases',
    world: 'durable',
    times: { short: 0, long: 4 },
    async inject(run) {
      const slot = slotOf(run);
      slot.freeze();
      await pause(frozenMs);
      slot.thaw();
      await run.world.untilReady();
      await run.load.goesOn(100);
    },
  },
  {
    name: 'A process reaches its memory limit',
    world: 'durable',
    times: { short: 0, long: 8 },
    async inject(run) {
      const slot = slotOf(run);
      const ended = slot.ends.length;
      limitMemory(slot.pid ?? assert.fail('there is no process'));
      const uploads = uploadAtOnce(slot.url ?? assert.fail('the process is not ready'), run.load.adminToken);
      await until(() => slot.ends.length > ended);
      for (const upload of uploads) upload.destroy();
      await run.world.untilReady();
      await run.load.goesOn(40);
    },
  },
];

/** Sends bodies without their end, so that the process has to keep what has arrived. */
function uploadAtOnce(url: string, token: string): readonly Socket[] {
  const { hostname, port } = new URL(url);
  const head = [
    'POST /teams HTTP/1.1',
    `host: ${hostname}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${bodyBytes + 1}`,
  ];
  return Array.from({ length: bodiesAtOnce }, () => {
    const socket = connect(Number(port), hostname);
    // The process resets its connections when it ends.
    socket.on('error', () => undefined);
    socket.write(`${head.join('\r\n')}\r\n\r\n"${'x'.repeat(bodyBytes - 1)}`);
    return socket;
  });
}

/** The process may not get more memory than it has. The limit counts what the process can write to (Linux). */
function limitMemory(pid: number): void {
  const [, kibibytes = ''] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const program = findProgram('prlimit') ?? assert.fail('prlimit is missing: install util-linux');
  execFileSync(program, ['--pid', String(pid), `--data=${Number(kibibytes) * 1_024}`]);
}
