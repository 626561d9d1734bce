import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import { slotOf } from './processes.ts';

/** Longer than a process needs to notice that its database is silent (7 s), and than a transaction may be idle. */
const halfOpenMs = 15_000;
const slowMs = 12_000;
/** What a slow network adds to each message, in each direction. */
const delayMs = { database: 60, receiver: 250 };
const cutOffMs = 6_000;
/** Expired addresses are used for a while, so a shorter failure of name resolution has no effect. */
const deadNamesMs = 36_000;

export const networkFaults: readonly Fault[] = [
  {
    name: 'Connections are reset',
    world: 'durable',
    times: { short: 6, long: 200 },
    async inject({ world, load, random }) {
      await pause(random.below(500));
      const proxies = [load.receiver, ...world.slots.map(({ proxy }) => proxy)];
      random.pick(proxies).reset();
      await load.goesOn(10);
    },
  },
  {
    name: 'Connections to the database are half-open',
    world: 'durable',
    times: { short: 0, long: 6 },
    async inject(run) {
      const { proxy } = slotOf(run);
      proxy.swallow(true);
      await pause(halfOpenMs);
      proxy.swallow(false);
      await run.world.untilReady();
      await run.load.goesOn(40);
    },
  },
  {
    name: 'The network is slow',
    world: 'durable',
    times: { short: 0, long: 4 },
    async inject({ world, load }) {
      for (const { proxy } of world.slots) proxy.delay(delayMs.database);
      load.receiver.delay(delayMs.receiver);
      await pause(slowMs);
      for (const proxy of [load.receiver, ...world.slots.map((slot) => slot.proxy)]) proxy.delay(0);
      await load.goesOn(40);
    },
  },
  {
    name: 'One process is cut off from the database',
    world: 'durable',
    times: { short: 1, long: 8 },
    async inject(run) {
      const { proxy } = slotOf(run);
      proxy.shut(true);
      await pause(cutOffMs);
      proxy.shut(false);
      await run.world.untilReady();
      await run.load.goesOn(40);
    },
  },
  {
    name: 'Host names do not resolve',
    world: 'durable',
    times: { short: 0, long: 3 },
    async inject({ world, load }) {
      const { answer } = world.dns;
      world.dns.answer = () => 'silent';
      // Open connections need no name.
      load.receiver.cut();
      await pause(deadNamesMs);
      load.receiver.cut();
      await load.goesOn(40);
      world.dns.answer = answer;
      await load.catchesUp();
    },
  },
];
