import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { deleteAccounts } from '../support/simulation/account.ts';
import { FailedHistory, runHistory } from '../support/simulation/history.ts';
import { Hosts } from '../support/simulation/hosts.ts';
import { installVirtualClock } from '../support/simulation/virtual-time.ts';

/**
 * Two processes take turns and write batches of messages on one account, in an order that follows from a seed, with faults: see
 * docs/decisions/0036-simulation.md. `SEED=123 npm test -- test/simulation/turns.test.ts` runs one history and prints it.
 */
const [seed, proofSeed] = [process.env['SEED'], process.env['PROVE']];
const count = proofSeed === undefined ? 60 : 20_000;
const firstSeed = proofSeed === undefined ? 1 : Number(proofSeed);
/** Checks read the tables of all accounts, so these are deleted now and then. */
const accountsInDatabase = 50;
/** So many of the last steps of a history are printed if it fails. */
const printedSteps = 80;

const address = await cloneDatabase();
assert.ok(address.kind === 'socket');
const { directory, database } = address;
const setup = connect(address, { max: 1 });
await installVirtualClock(setup, database);
await setup.end();
const sql = connect(address, { max: 2 });
await forThisFile({ close: async () => sql.end({ timeout: 1 }) });
const hosts = await forThisFile(new Hosts({ target: directory, database }));

async function historyOf(own: number): Promise<readonly string[]> {
  try {
    return await runHistory({ seed: own, sql, hosts });
  } catch (error) {
    if (error instanceof FailedHistory) console.log(error.steps.slice(-printedSteps).join('\n'));
    const repeat = `SEED=${own} npm test -- test/simulation/turns.test.ts`;
    throw new Error(`The history of the seed ${own} has failed. To run it again: ${repeat}`, { cause: error });
  }
}

test('the history of a given seed', { skip: seed === undefined ? 'no SEED is given' : false }, async () => {
  console.log((await historyOf(Number(seed))).join('\n'));
});

const skip = seed === undefined ? false : 'a SEED is given';

test(`${count} histories keep what is promised of turns and messages`, { skip }, async () => {
  for (let own = firstSeed; own < firstSeed + count; own += 1) {
    if (own % accountsInDatabase === 0) await deleteAccounts(sql);
    await historyOf(own);
  }
});

test('a seed has the same history again, whatever ran before', { skip }, async () => {
  const seeds = [firstSeed, firstSeed + 1, firstSeed + 2, firstSeed + 3, firstSeed + 4];
  const histories = new Map<number, readonly string[]>();
  await deleteAccounts(sql);
  for (const own of seeds) histories.set(own, await historyOf(own));
  await deleteAccounts(sql);
  // New connections have prepared nothing.
  hosts.close();
  for (const own of seeds.toReversed()) assert.deepEqual(await historyOf(own), histories.get(own), `seed ${own}`);
});
