import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

/**
 * `npm run prove -- [name…] [--seed <number>]`: runs the long form of tests that `npm test` runs in short form, and prints their figures at
 * the end. Without a name it runs all, which takes about six hours. Without a seed, random tests use a new one each time.
 */
interface Proof {
  readonly name: string;
  readonly what: string;
  readonly files: readonly string[];
}

const board = 'packages/server/src/routing/board';

const proofs: readonly Proof[] = [
  {
    name: 'deliveries',
    what: 'a ledger of 20,000 events with twenty kills, order at 1,000 messages a second, receivers that never answer',
    files: [
      'test/webhooks/deliveries/delivery-order.test.ts',
      'packages/server/src/webhooks/dispatcher/reading/commit-order.test.ts',
      'test/webhooks/deliveries/delivery-faults.test.ts',
      'test/webhooks/deliveries/delivery-ledger.test.ts',
      'test/webhooks/unresponsive-receivers.test.ts',
      'test/webhooks/coverage.test.ts',
    ],
  },
  { name: 'feed', what: 'a hundred crashes of the database', files: ['test/feed/feed-crash.test.ts'] },
  {
    name: 'database',
    what: 'dump and restore, a backup under load, clock steps, a full disk, an unresponsive database',
    files: [
      'test/platform/database/dump-and-restore.test.ts',
      'test/backup/round-trip.test.ts',
      'test/platform/clock/clock-faults.test.ts',
      'test/platform/database/silent-database.test.ts',
      'test/platform/database/full-disk.test.ts',
    ],
  },
  {
    name: 'engagements',
    what: 'files, lists, filters of another account, batches of messages, SMS with faults',
    files: [
      'test/engagements/files/file-deletion.test.ts',
      'test/engagements/engagement-lists.test.ts',
      'test/engagements/filter-isolation.test.ts',
      'test/engagements/message-batches.test.ts',
      'test/engagements/sms-faults.test.ts',
    ],
  },
  {
    name: 'statistics',
    what: 'statistics compared with a plain count, and on a million rows; lists of queues',
    files: [
      'test/queues/queue-reads.test.ts',
      'test/routing/statistics-properties.test.ts',
      'test/routing/statistics-cost.test.ts',
    ],
  },
  {
    name: 'callers',
    what: 'host names that do not resolve, floods from one address, operators who lose a site',
    files: [
      'test/platform/outbound/dead-names.test.ts',
      'test/platform/http/floods.test.ts',
      'test/identity/taken-off.test.ts',
      'test/identity/access-former.test.ts',
    ],
  },
  {
    name: 'moves',
    what: 'an account moves to another installation under load',
    files: ['test/account-moving/move.test.ts'],
  },
  {
    name: 'garbage',
    what: 'a million bad requests as every kind of caller: no 5xx, no hang, no change by a refused one, no data of others',
    files: ['test/service/garbage.test.ts'],
  },
  {
    name: 'start',
    what: 'the start, and the package as it is installed',
    files: ['test/service/start.test.ts', 'test/service/package.test.ts'],
  },
  {
    name: 'turns',
    what: 'a kill at each step of a turn, and races',
    files: ['test/routing/routing-faults.test.ts', 'test/routing/routing-races.test.ts'],
  },
  {
    name: 'outages',
    what: 'outages of 5 to 300 s of the database and of all processes',
    files: ['test/routing/outages.test.ts'],
  },
  {
    name: 'faults',
    what: '1,000 kills, 100 crashes of the database, networks, disks, clocks: what is lost; writes docs/guide/faults.md',
    files: ['test/faults/campaign.test.ts'],
  },
  {
    name: 'failover',
    what: '20 failovers of PostgreSQL under Patroni, behind HAProxy and with several hosts, and a standby that lags',
    files: ['test/faults/failover.test.ts', 'test/faults/lagging-standby.test.ts'],
  },
  {
    name: 'oldest-postgres',
    what: 'every test without a browser on the oldest supported PostgreSQL',
    files: ['test/service/oldest-postgres.test.ts'],
  },
  {
    name: 'board',
    what: 'tens of thousands of random histories compared with the reference model; queueing theory with narrow intervals',
    files: [`${board}/model.test.ts`, `${board}/theory.test.ts`],
  },
  { name: 'simulation', what: '20,000 simulated histories', files: ['test/simulation/*.test.ts'] },
  {
    name: 'pages',
    what: 'every browser test, also in Firefox and WebKit, in both colour schemes',
    files: ['test/call/call.test.ts', 'test/console/*.test.ts', 'test/widget/*.test.ts'],
  },
  {
    name: 'soak',
    what: 'two processes under steady load for some minutes, or for hours: soak <hours>',
    files: ['test/service/soak.test.ts'],
  },
  { name: 'bench', what: 'every entry of the benchmarks, at short size', files: ['bench/entries.test.ts'] },
];

const usage = `Usage: npm run prove -- [name…] [--seed <number>]
       npm run prove -- soak <hours>

${proofs.map(({ name, what }) => `  ${name.padEnd(16)} ${what}`).join('\n')}

Without a name all of them run.`;

function refuse(reason: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(64);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string', default: String(Date.now() % 2 ** 31) }, help: { type: 'boolean' } },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

/** The hours of the soak follow its name. */
function withoutHours(given: readonly string[]): { names: string[]; hours: string | undefined } {
  const at = given.indexOf('soak') + 1;
  const hours = at === 0 || Number.isNaN(Number(given[at])) ? undefined : given[at];
  return { names: given.filter((_, index) => hours === undefined || index !== at), hours };
}

const { positionals, values } = parsed();
const { names, hours } = withoutHours(positionals);
if (values.help === true) {
  console.log(usage);
  process.exit();
}
const { seed } = values;
if (!/^\d+$/.test(seed)) refuse(`The seed must be a non-negative integer, not "${seed}".`);
const unknown = names.find((name) => !proofs.some((proof) => proof.name === name));
if (unknown !== undefined) refuse(`There is no proof "${unknown}".`);
const chosen = proofs.filter(({ name }) => names.length === 0 || names.includes(name));

console.log(`Seed ${seed}. To repeat this run: npm run prove -- ${[...positionals, `--seed ${seed}`].join(' ')}`);
process.env['PROVE'] = seed;
if (hours !== undefined) process.env['SOAK_HOURS'] = hours;
/** Tests print each figure as a line of JSON. */
const figures: string[] = [];
let passed = true;
// `node --test` would sort the files, so they are passed to `run` in this order.
const inOrder = chosen.flatMap(({ files }) => files).flatMap((pattern) => globSync(pattern).toSorted());
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
