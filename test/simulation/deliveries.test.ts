import { runClusterHistory } from '../support/simulation/cluster/history.ts';
import { deliveries } from '../support/simulation/deliveries/part.ts';
import { testSeeds } from '../support/simulation/seeds.ts';

/** The dispatchers of two processes deliver messages that both write, in an order that follows from a seed, with faults. */
await testSeeds({
  subject: 'deliveries',
  file: 'test/simulation/deliveries.test.ts',
  run: async (options) => runClusterHistory(options, deliveries),
  short: 20,
  long: 10_000,
});
