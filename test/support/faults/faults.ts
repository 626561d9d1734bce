import { clockFaults } from './clocks.ts';
import { databaseFaults } from './databases.ts';
import type { Fault } from './fault.ts';
import { networkFaults } from './networks.ts';
import { processFaults } from './processes.ts';

/** Every fault of `npm run prove -- faults`. docs/guide/faults.md has a section about each, in this order. */
export const faults: readonly Fault[] = [...processFaults, ...databaseFaults, ...networkFaults, ...clockFaults];
