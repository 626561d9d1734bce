import { setTimeout as pause } from 'node:timers/promises';
import type { FileStore } from '../engagements/files/file-store.ts';
import { DueWork } from '../platform/database/due-work.ts';
import type { Log } from '../platform/log.ts';
import { sampleHost, type HostDependencies } from './host.ts';
import { remove } from './remove.ts';
import type { LeasedSample } from './sample-data.ts';
import { renewLease, releaseSample, markSampleEnded, claimSamples } from './store.ts';

/** How fast simulated people act, and how often they decide what to do next. */
export interface Pace {
  /** Simulated seconds per real second. */
  readonly speed: number;
  readonly actEveryMs: number;
  /** A process that has not renewed its lease for this long counts as dead. */
  readonly leaseMs: number;
}

const defaultPace: Pace = { speed: 1, actEveryMs: 1_000, leaseMs: 10_000 };

/** Samples that a process simulates at the same time. */
const concurrency = 20;

interface SimulationsOptions extends HostDependencies {
  readonly fileStore: FileStore;
  readonly log: Log;
  readonly pace?: Partial<Pace>;
}

/**
 * Simulates the people of sample data. A lease ensures that one process at a time simulates a sample. The simulation is in the package
 * `@usher/sample`, which is loaded when the process claims its first sample.
 */
export class Simulations {
  readonly #options: SimulationsOptions;
  readonly #pace: Pace;
  readonly #work: DueWork<LeasedSample>;
  readonly #stopping = new AbortController();

  constructor(options: SimulationsOptions) {
    this.#options = options;
    this.#pace = { ...defaultPace, ...options.pace };
    this.#work = new DueWork({
      what: 'sample data',
      atOnce: concurrency,
      claim: async (room) => claimSamples(options.sql, room, this.#pace.leaseMs),
      handle: async (sample) => this.#run(sample),
      log: options.log,
    });
  }

  /** Looks for samples to simulate now. */
  wake(): void {
    this.#work.wake();
  }

  /** Stops the simulations. Tickets and engagements stay as they are, for another process to continue. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work.stop();
  }

  async #run(sample: LeasedSample): Promise<void> {
    const { sql } = this.#options;
    const { Actors } = await import('@usher/sample/actors');
    const actors = new Actors(sampleHost(this.#options, sample), this.#pace.speed);
    while (!this.#stopping.signal.aborted) {
      const state = await renewLease(sql, sample, this.#pace.leaseMs);
      if (state === null) return;
      if (state === 'removing') {
        // Sample operators end their engagements on all sites.
        const leaving = new Actors(sampleHost(this.#options, sample, 'everywhere'), this.#pace.speed);
        if (!(await leaving.endActive('all')) || !(await this.#remove(sample))) await releaseSample(sql, sample);
        return;
      }
      if (state === 'stopped') {
        if (await actors.endActive('simulated')) await markSampleEnded(sql, sample);
        return;
      }
      await actors.act();
      await pause(this.#pace.actEveryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    await releaseSample(sql, sample);
  }

  async #remove(sample: LeasedSample): Promise<boolean> {
    const { sql, fileStore } = this.#options;
    const shouldContinue = async (): Promise<boolean> =>
      !this.#stopping.signal.aborted && (await renewLease(sql, sample, this.#pace.leaseMs)) !== null;
    return remove({ sql, fileStore, sample, shouldContinue });
  }
}
