import { runHistory } from '../support/simulation/history.ts';
import { testSeeds } from '../support/simulation/seeds.ts';

/** Two processes take turns and write batches of messages on one account, in an order that follows from a seed, with faults. */
await testSeeds({
  subject: 'turns and messages',
  file: 'test/simulation/turns.test.ts',
  run: runHistory,
  short: 30,
  long: 10_000,
});
