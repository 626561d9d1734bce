import type { Step } from '../scheduler.ts';
import type { ClusterProcess } from './process.ts';

/** What the histories of a cluster are about: what its processes do beside writing messages, and what is promised of that. */
export interface Part {
  /** Its processes notice when the clock of the database is set. */
  readonly watchesClock: boolean;
  /** Opens it in a process. Returns how it is closed. */
  open(process: ClusterProcess): Promise<() => Promise<void>>;
  /** What happens next without a client. Nothing happens to a frozen process. */
  steps(isFrozen: (process: ClusterProcess) => boolean): Step[];
  /** What clients may do next. */
  clientSteps(processes: readonly ClusterProcess[]): Step[];
  onKilled(process: ClusterProcess): void;
  /** From then on nobody outside of the cluster makes trouble. */
  calm(): void;
  /** Checked after each step, and after each commit. */
  checkStep(): Promise<void>;
  checkCommitted(): Promise<void>;
  /** At the end: how long something that has not happened yet has to wait; `null`: everything has happened. */
  waitsMs(): Promise<number | null>;
  checkEnd(): Promise<void>;
}
