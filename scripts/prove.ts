import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * `npm run prove -- [seed]`: the long form of what `npm test` checks in short. Of the board: tens of thousands of random
 * lives against the reference, each time others unless a seed is given, and theory with narrow intervals. Of deliveries: the
 * ledger with 20,000 events and twenty kills. Of turns: a kill at each step. Of the API: more garbage. Of the pages: all that is
 * tried in a browser. Takes many minutes.
 */
const board = 'packages/server/src/routing/board';
const [seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
if (!/^\d+$/.test(seed)) throw new Error('the seed must be a number');
console.log(`The seed is ${seed}: npm run prove -- ${seed} does the same again.`);
const files = [
  `${board}/model.test.ts`,
  `${board}/theory.test.ts`,
  'test/delivery-ledger.test.ts',
  'test/routing-faults.test.ts',
  'test/routing-races.test.ts',
  'test/sms-faults.test.ts',
  'test/garbage.test.ts',
  'test/call.test.ts',
  'test/console*.test.ts',
  'test/widget*.test.ts',
];
const options = ['--test', '--test-global-setup=test/setup.ts', '--test-concurrency=1'];
const child = spawn(process.execPath, [...options, ...files], {
  stdio: 'inherit',
  env: { ...process.env, PROVE: seed },
});
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
