import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inspect } from 'node:util';
import type { Fault } from '../support/faults/fault.ts';
import { faults } from '../support/faults/faults.ts';
import { faultsOnPage, writeFigures, type FaultFigures } from '../support/faults/figures.ts';
import { Load } from '../support/faults/load.ts';
import { FaultWorld, type WorldKind } from '../support/faults/world.ts';
import { isProof } from '../support/proof.ts';
import { randomOf } from '../support/simulation/random.ts';

/**
 * Two processes serve visitors, operators, readers of the live feed and a webhook receiver, while one fault after the other happens to them.
 * What was acknowledged must be everywhere in the end, once and in order: see `ledgers.ts`. The long form writes docs/guide/faults.md.
 */
const seed = Number(process.env['PROVE'] ?? Date.now() % 2 ** 31);
/** Mostly the kills: half an hour on an idle machine, and hours on a busy one. */
const longestMs = 4 * 3_600_000;

const figures: FaultFigures[] = [];
let postgres = '';

const timesOf = ({ times }: Fault): number => (isProof ? times.long : times.short);

for (const kind of ['durable', 'small disk', 'clocks'] satisfies WorldKind[]) {
  const chosen = faults.filter((fault) => fault.world === kind && timesOf(fault) > 0);
  if (chosen.length === 0) continue;
  suite(`nothing acknowledged is lost, invented or out of order (${kind})`, { timeout: longestMs }, () => {
    let world: FaultWorld | null = null;
    before(async () => {
      world = await FaultWorld.open(kind);
      if (world !== null) postgres = await world.readVersion();
    });
    after(async () => world?.[Symbol.asyncDispose]());
    for (const fault of chosen) {
      test(`${fault.name}: ${timesOf(fault)} times`, async (t) => {
        if (world === null) return t.skip('only root may mount a small disk, on Linux');
        const logged = countLogged(world);
        try {
          await prove(world, fault, (line) => t.diagnostic(line));
        } catch (error) {
          // Node reports it after the last test, which may be an hour later.
          console.log(inspect(error));
          throw error;
        } finally {
          t.diagnostic(`logged: ${JSON.stringify(Object.fromEntries(countLogged(world, logged)))}`);
          for (const end of world.slots.flatMap(({ ends }) => ends.splice(0))) t.diagnostic(`a process ended: ${end}`);
        }
      });
    }
  });
}

after(async () => {
  const names = faults.map(({ name }) => name);
  if (isProof && figures.length > 0) await writeFigures({ postgres, figures }, names);
});

/** Lets the fault happen as often as it should while clients work, and compares what everybody saw. */
async function prove(world: FaultWorld, fault: Fault, report: (line: string) => void): Promise<void> {
  const random = randomOf(seed + faults.indexOf(fault));
  await using load = await Load.start(world);
  await load.goesOn(20);
  load.ledgers.startWatch();
  for (let round = 0; round < timesOf(fault); round += 1) {
    await fault.inject({ world, load, random, round });
    if ((round + 1) % 50 === 0) console.log(`${fault.name}: ${round + 1} times so far`);
  }
  await world.untilReady();
  await load.goesOn(20);
  const { acknowledged, lost, invented, outOfOrder, doubled, repeated, longestStopMs, resets } = await load.end();
  const run = {
    name: fault.name,
    times: timesOf(fault),
    acknowledged,
    lost: lost.length,
    outOfOrder: outOfOrder.length,
  };
  const all = { ...run, repeated, longestStopMs: Math.round(longestStopMs), seed };
  figures.push(all);
  console.log(JSON.stringify(all));
  report(`failed requests: ${JSON.stringify(Object.fromEntries(load.failures))}`);
  assert.deepEqual({ lost, invented, outOfOrder, doubled, resets }, nothing);
}

const nothing = { lost: [], invented: [], outOfOrder: [], doubled: 0, resets: 0 };

/** How often each message was logged by all processes since `before`. */
function countLogged(world: FaultWorld, before: ReadonlyMap<string, number> = new Map()): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [message, count] of world.slots.flatMap(({ logged }) => [...logged]))
    counts.set(message, (counts.get(message) ?? -(before.get(message) ?? 0)) + count);
  return new Map([...counts].filter(([, count]) => count > 0));
}

test('docs/guide/faults.md has a line and a section about each fault of the campaign', () => {
  const names = faults.map(({ name }) => name);
  assert.deepEqual(faultsOnPage(), { table: names, headings: names });
});
