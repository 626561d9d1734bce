import { runClusterHistory } from '../support/simulation/cluster/history.ts';
import { feeds } from '../support/simulation/feeds/part.ts';
import { testSeeds } from '../support/simulation/seeds.ts';

/** Readers of live feeds at two processes follow messages that both write, in an order that follows from a seed, with faults. */
await testSeeds({
  subject: 'feeds',
  file: 'test/simulation/feeds.test.ts',
  run: async (options) => runClusterHistory(options, feeds),
  short: 20,
  long: 10_000,
});
