import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isProof } from '../support/proof.ts';
import { measureGrowth } from '../support/soak/bounds.ts';
import { daySweeps } from '../support/soak/planted-days.ts';
import { plantedSweeps } from '../support/soak/planted-rows.ts';
import { coresOf, type RunResult } from '../support/soak/report.ts';
import { soak } from '../support/soak/run.ts';
import { boundOf } from '../support/soak/tables.ts';

/** `npm run prove -- soak <hours>` sets the hours; without them it runs for some minutes, and `npm test` for some seconds. */
const hours = isProof ? Number(process.env['SOAK_HOURS'] ?? 0.1) : 15 / 3_600;
const lengthSec = hours * 3_600;
/** Long enough for the sweeps of every ten minutes. */
const isLong = hours > 0.5;
const housekeepingSec = 600;

const folder = process.env['SOAK_REPORT'] ?? mkdtempSync(join(tmpdir(), 'usher-soak-report-'));
mkdirSync(folder, { recursive: true });

/** What happens in every run, also in a short one. */
const activities = [
  'conversation',
  'message',
  'ended',
  'cancel',
  'visitor left',
  'operator left',
  'feed',
  'item of a visitor',
  'file clean',
  'file infected',
  'file deleted',
  'transfer accept',
  'offer accept',
  'offer decline',
  'unused visitor',
  'sign-in and sign-out',
  'console reads',
  'setting changed',
  'access token',
  'replay',
  'recovery',
  'site deleted',
  'outage of a receiver',
];

test('growth of a value is found by comparing the last quarter with the second', () => {
  const measure = (values: readonly number[]) =>
    measureGrowth({ name: 'value', values, margin: () => 5, by: 'median' }).isBounded;
  const steps = Array.from({ length: 40 }, (_, step) => step);
  assert.equal(measure(steps.map((step) => (step < 10 ? step * 10 : 100))), true, 'it settles in the first quarter');
  assert.equal(measure(steps.map((step) => 100 + (step % 3))), true, 'it varies');
  assert.equal(measure(steps.map((step) => 100 + step)), false, 'it grows steadily');
  assert.equal(measure(steps.map((step) => (step < 30 ? 100 : 110))), false, 'it jumps in the end');
  const saw = steps.map((step) => 100 + step + 20 * (step % 5));
  assert.equal(measureGrowth({ name: 'saw', values: saw, margin: () => 5, by: 'least' }).isBounded, false);
});

test(
  'two processes under steady load stay bounded, and each sweep deletes what it has to and nothing else',
  { timeout: hours * 3_600_000 + 900_000 },
  async (t) => {
    const result = await soak({
      hours,
      folder,
      sampleEverySec: Math.min(30, lengthSec / 30),
      conversationsPerSec: isProof ? 1 : 3,
      plantEverySec: isLong ? 240 : lengthSec / 2,
      longestChoreSec: Math.min(600, lengthSec / 3),
      startsForSweeps: !isLong,
    });
    if (isProof) console.log(readFileSync(join(folder, 'report.md'), 'utf8'));
    console.log(JSON.stringify(figuresOf(result)));
    console.log(`The report is in ${folder}.`);
    await t.test('everything happened, and nothing failed', () => {
      assert.deepEqual(result.traffic.unexpected, []);
      const missing = activities.filter((each) => !result.traffic.counts.has(each));
      assert.deepEqual(missing, []);
    });
    await t.test('memory, connections, files and tables are bounded', () => {
      const growing = result.growths.filter(({ isBounded }) => !isBounded);
      assert.deepEqual(growing, []);
    });
    await t.test('every table is known', () => {
      const unknown = [...(result.samples.at(-1)?.tables.keys() ?? [])].filter((table) => !(table in boundOf));
      assert.deepEqual(unknown, []);
    });
    await t.test('each sweep deleted what it had to, and nothing else', () => {
      for (const each of [...result.sweeps, ...result.days, result.files]) {
        assert.ok(each.old > 0, JSON.stringify(each));
        assert.deepEqual([each.oldLeft, each.youngLeft], [0, each.young], JSON.stringify(each));
      }
      for (const { log, missing } of result.days) assert.equal(missing, 0, log);
      assert.deepEqual(result.overdue, {});
      assert.equal(result.orphanedVisitors, 0);
      for (const [what, { acknowledged, rows }] of Object.entries(result.history))
        assert.ok(
          rows >= acknowledged && acknowledged > 0,
          `${acknowledged} ${what} were acknowledged, ${rows} are stored`,
        );
    });
    await t.test('every sweep is seen, and ran on time', () => {
      const last = result.samples.at(-1)?.processes ?? [];
      assert.equal(last.length, 2);
      for (const { work } of last) {
        const sweeps = [...work].filter(([, { intervalSec }]) => intervalSec === housekeepingSec).map(([name]) => name);
        assert.deepEqual(
          sweeps.filter((name) => name !== 'check_clock').toSorted(),
          [...plantedSweeps.union(daySweeps)].toSorted(),
        );
        for (const [name, { failures }] of work) assert.equal(failures, 0, name);
      }
      assert.deepEqual(result.late, []);
    });
    await t.test('every event arrived once at the receiver that does not fail', () => {
      const { accepted, delivered, others } = result.events;
      assert.ok(accepted > 0);
      assert.deepEqual([accepted, others], [delivered, 0]);
      assert.equal(result.storedFiles.onDisk, result.storedFiles.rows);
    });
  },
);

function figuresOf({ samples, growths, traffic, ...rest }: RunResult): object {
  const grown = growths
    .filter(({ name }) => /^process|connections/.test(name))
    .map(({ name, quarters }) => [name, quarters]);
  return {
    soakHours: rest.hours,
    cores: coresOf(samples),
    conversations: traffic.counts.get('conversation'),
    requests: traffic.counts.get('request'),
    bounded: growths.filter(({ isBounded }) => isBounded).length,
    growing: growths.filter(({ isBounded }) => !isBounded).length,
    ...Object.fromEntries(grown),
  };
}
