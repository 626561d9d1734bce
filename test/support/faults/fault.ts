import type { Random } from '../simulation/random.ts';
import type { Load } from './load.ts';
import type { FaultWorld, WorldKind } from './world.ts';

/** Something that goes wrong while clients are working. */
export interface Fault {
  /** Also the heading of its section in docs/guide/faults.md. */
  readonly name: string;
  readonly world: WorldKind;
  /** How often the fault happens in `npm test` and in `npm run prove -- faults`; 0 if it takes too long. */
  readonly times: { readonly short: number; readonly long: number };
  /** Causes the fault once and ends it. */
  readonly inject: (run: FaultRun) => Promise<void>;
}

export interface FaultRun {
  readonly world: FaultWorld;
  readonly load: Load;
  readonly random: Random;
  /** The number of this round, from 0. */
  readonly round: number;
}
