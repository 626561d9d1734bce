import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type Sql } from '../../../packages/server/src/platform/database/database.ts';
import { cloneDatabase } from '../database/database.ts';
import { forThisFile } from '../fixture.ts';
import { deleteAccounts } from './account.ts';
import { FailedHistory } from './failed-history.ts';
import { Hosts } from './hosts.ts';
import { shorten, stepsOf, textOfSteps } from './shorten.ts';
import { installVirtualClock } from './virtual-time.ts';

/** What a history needs. */
export interface SimulationOptions {
  readonly seed: number;
  /** A connection to the database that the scheduler does not delay. */
  readonly sql: Sql;
  readonly hosts: Hosts;
  /** The numbers of the steps with clients and faults, without those that were left out to shorten the history; `null`: all. */
  readonly steps: readonly number[] | null;
}

interface SeedsOptions {
  /** What the histories are about, and the file of the test. */
  readonly subject: string;
  readonly file: string;
  /** Runs a history, and returns its steps; rejects with a `FailedHistory`. */
  readonly run: (options: SimulationOptions) => Promise<readonly string[]>;
  /** How many histories run in `npm test`, and with `PROVE`. */
  readonly short: number;
  readonly long: number;
}

/** Checks read the tables of all accounts, so these are deleted now and then. */
const accountsInDatabase = 50;
/** So many of the last steps of a history are printed if it fails. */
const printedSteps = 80;

/**
 * Tests of the histories of many seeds: see docs/decisions/0036-simulation.md. With `SEED=123`, of that one, which is printed; with
 * `STEPS=1,4-9`, of these steps of it.
 */
export async function testSeeds({ subject, file, run, short, long }: SeedsOptions): Promise<void> {
  const [seed, proofSeed, given] = [process.env['SEED'], process.env['PROVE'], process.env['STEPS']];
  const count = proofSeed === undefined ? short : long;
  const firstSeed = proofSeed === undefined ? 1 : Number(proofSeed);
  const address = await cloneDatabase();
  assert.ok(address.kind === 'socket');
  const { directory, database } = address;
  const setup = connect(address, { max: 1 });
  await installVirtualClock(setup, database);
  await setup.end();
  const sql = connect(address, { max: 2 });
  await forThisFile({ close: async () => sql.end({ timeout: 1 }) });
  const hosts = await forThisFile(new Hosts({ target: directory, database }));

  const historyOf = async (own: number, steps: readonly number[] | null = null): Promise<readonly string[]> => {
    const runSteps = async (some: readonly number[] | null): Promise<readonly string[]> =>
      run({ seed: own, sql, hosts, steps: some });
    const ended = await runSteps(steps).catch((error: unknown) => {
      if (error instanceof FailedHistory) return error;
      throw error;
    });
    if (!(ended instanceof FailedHistory)) return ended;
    // Said at once: shortening takes minutes.
    console.log(`The history of the seed ${own} has failed. Shortening it.`, ended.cause);
    const { failure, steps: shortest } = await shorten(ended, async (some) => {
      await deleteAccounts(sql);
      return runSteps(some);
    });
    console.log(failure.names.slice(-printedSteps).join('\n'));
    const repeat = `SEED=${own} STEPS=${textOfSteps(shortest)} npm test -- ${file}`;
    throw new Error(`The history of the seed ${own} has failed. To run its shortest form: ${repeat}`, {
      cause: failure,
    });
  };

  test('the history of a given seed', { skip: seed === undefined ? 'no SEED is given' : false }, async () => {
    console.log((await historyOf(Number(seed), given === undefined ? null : stepsOf(given))).join('\n'));
  });

  const skip = seed === undefined ? false : 'a SEED is given';

  test(`${count} histories keep what is promised of ${subject}`, { skip }, async () => {
    for (let own = firstSeed; own < firstSeed + count; own += 1) {
      if (own % accountsInDatabase === 0) await deleteAccounts(sql);
      await historyOf(own);
    }
  });

  test('a seed has the same history again, whatever ran before', { skip }, async () => {
    const seeds = [firstSeed, firstSeed + 1, firstSeed + 2, firstSeed + 3];
    const histories = new Map<number, readonly string[]>();
    await deleteAccounts(sql);
    for (const own of seeds) histories.set(own, await historyOf(own));
    await deleteAccounts(sql);
    // New connections have prepared nothing.
    hosts.close();
    for (const own of seeds.toReversed()) assert.deepEqual(await historyOf(own), histories.get(own), `seed ${own}`);
  });
}
