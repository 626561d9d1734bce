import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

/**
 * `npm run prove -- [seed]`: runs the long form of tests that `npm test` runs in short form, and prints their figures at the end.
 * Takes about four and a half hours, three of them for the simulated histories. Without a seed, random tests use a new one each time.
 *
 * - Board: tens of thousands of random histories compared with the reference model; queueing theory with narrow intervals.
 * - Turns and messages: 20,000 simulated histories.
 * - Deliveries: a ledger of 20,000 events with twenty kills, order at 1,000 messages a second, receivers that never answer, and
 *   roles that are removed while events are appended.
 * - Statistics: compared with a plain count, and on a million rows.
 * - Feed: a hundred crashes of the database.
 * - Database: dump and restore, a backup under load, clock steps, an unresponsive database, and every test without a browser on the
 *   oldest supported version.
 * - Callers: host names that do not resolve, floods from one address, operators who lose a site.
 * - API: 200,000 generated requests, and as many on the oldest PostgreSQL.
 * - Turns: a kill at each step.
 * - Presence: outages of 5 to 300 s of the database and of all processes.
 * - Pages: every browser test, also in Firefox and WebKit, in both colour schemes.
 * - Bench: every entry, at short size.
 */
const board = 'packages/server/src/routing/board';
const [seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
if (!/^\d+$/.test(seed)) throw new Error(`the seed must be a non-negative integer, not "${seed}"`);
console.log(`Seed ${seed}. To repeat this run: npm run prove -- ${seed}`);
const files = [
  'test/webhooks/deliveries/delivery-order.test.ts',
  'packages/server/src/webhooks/dispatcher/reading/commit-order.test.ts',
  'test/feed/feed-crash.test.ts',
  'test/platform/database/dump-and-restore.test.ts',
  'test/backup/round-trip.test.ts',
  'test/platform/clock/clock-faults.test.ts',
  'test/webhooks/deliveries/delivery-faults.test.ts',
  'test/webhooks/unresponsive-receivers.test.ts',
  'test/webhooks/coverage.test.ts',
  'test/engagements/file-deletion.test.ts',
  'test/engagements/engagement-lists.test.ts',
  'test/engagements/filter-isolation.test.ts',
  'test/engagements/message-batches.test.ts',
  'test/queues/queue-reads.test.ts',
  'test/routing/statistics-properties.test.ts',
  'test/routing/statistics-cost.test.ts',
  'test/platform/database/silent-database.test.ts',
  'test/platform/database/full-disk.test.ts',
  'test/platform/outbound/dead-names.test.ts',
  'test/platform/http/floods.test.ts',
  'test/identity/taken-off.test.ts',
  'test/identity/access-former.test.ts',
  'test/service/garbage.test.ts',
  'test/service/start.test.ts',
  'test/service/package.test.ts',
  'test/webhooks/deliveries/delivery-ledger.test.ts',
  'test/routing/routing-faults.test.ts',
  'test/routing/routing-races.test.ts',
  'test/routing/outages.test.ts',
  'test/engagements/sms-faults.test.ts',
  'test/service/oldest-postgres.test.ts',
  `${board}/model.test.ts`,
  `${board}/theory.test.ts`,
  'test/simulation/turns.test.ts',
  'test/call/call.test.ts',
  'test/console/*.test.ts',
  'test/widget/*.test.ts',
  'bench/entries.test.ts',
];
process.env['PROVE'] = seed;
/** Tests print each figure as a line of JSON. */
const figures: string[] = [];
let passed = true;
// `node --test` would sort the files, so they are passed to `run` in this order.
const inOrder = files.flatMap((pattern) => globSync(pattern).toSorted());
const options = { files: inOrder, concurrency: 1, globalSetupPath: resolve('test/setup.ts') };
const tests = run(options)
  .on('test:stdout', ({ message }) => {
    figures.push(...message.split('\n').filter((line) => line.startsWith('{"')));
  })
  .on('test:fail', () => {
    passed = false;
  });
await pipeline(tests, new spec(), process.stdout, { end: false });
console.log(`\nFigures:\n${figures.join('\n')}`);
process.exitCode = passed ? 0 : 1;
