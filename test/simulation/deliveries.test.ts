import { runDeliveryHistory } from '../support/simulation/deliveries/history.ts';
import { testSeeds } from '../support/simulation/seeds.ts';

/** The dispatchers of two processes deliver messages that both write, in an order that follows from a seed, with faults. */
await testSeeds({
  subject: 'deliveries',
  file: 'test/simulation/deliveries.test.ts',
  run: runDeliveryHistory,
  short: 20,
  long: 5_000,
});
