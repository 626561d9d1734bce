import { setTimeout as pause } from 'node:timers/promises';
import type { FileStore } from '../engagements/files/file-store.ts';
import { DueWork } from '../platform/due-work.ts';
import type { Log } from '../platform/log.ts';
import { sampleHost, type HostParts } from './host.ts';
import { remove } from './remove.ts';
import type { TakenSample } from './sample-data.ts';
import { keepSample, returnSample, settleSample, takeSamples } from './store.ts';

/** How fast made-up people live, and how often they look what to do next. */
export interface Pace {
  /** Seconds that pass for them in each real one. */
  readonly speed: number;
  readonly lookEveryMs: number;
  /** A process that has not looked for so long is taken for dead. */
  readonly leaseMs: number;
}

const everyday: Pace = { speed: 1, lookEveryMs: 1_000, leaseMs: 10_000 };

/** Accounts whose samples a process acts in. */
const atOnce = 20;

interface SimulationsParts extends HostParts {
  readonly disk: FileStore;
  readonly log: Log;
  readonly pace?: Partial<Pace>;
}

/**
 * Lets the people of samples act, each sample in one process at a time, by a lease. The people are in the package `@usher/sample`,
 * which is loaded when the first sample is taken.
 */
export class Simulations {
  readonly #parts: SimulationsParts;
  readonly #pace: Pace;
  readonly #work: DueWork<TakenSample>;
  readonly #stopping = new AbortController();

  constructor(parts: SimulationsParts) {
    this.#parts = parts;
    this.#pace = { ...everyday, ...parts.pace };
    this.#work = new DueWork({
      what: 'sample data',
      atOnce,
      claim: async (room) => takeSamples(parts.sql, room, this.#pace.leaseMs),
      handle: async (sample) => this.#run(sample),
      log: parts.log,
    });
  }

  /** There may be something to do. */
  look(): void {
    this.#work.wake();
  }

  /** Does no more; whatever goes on in the samples is left as it is, for others to take up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work.stop();
  }

  async #run(sample: TakenSample): Promise<void> {
    const { sql } = this.#parts;
    const { Actors } = await import('@usher/sample/actors');
    const actors = new Actors(sampleHost(this.#parts, sample), this.#pace.speed);
    while (!this.#stopping.signal.aborted) {
      const state = await keepSample(sql, sample, this.#pace.leaseMs);
      if (state === null) return;
      if (state === 'removing') {
        // Those of the sample leave wherever they are.
        const leaving = new Actors(sampleHost(this.#parts, sample, 'everywhere'), this.#pace.speed);
        if (!(await leaving.clear('all')) || !(await this.#remove(sample))) await returnSample(sql, sample);
        return;
      }
      if (state === 'stopped') {
        if (await actors.clear('ours')) await settleSample(sql, sample);
        return;
      }
      await actors.act();
      await pause(this.#pace.lookEveryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    await returnSample(sql, sample);
  }

  async #remove(sample: TakenSample): Promise<boolean> {
    const { sql, disk } = this.#parts;
    const goesOn = async (): Promise<boolean> =>
      !this.#stopping.signal.aborted && (await keepSample(sql, sample, this.#pace.leaseMs)) !== null;
    return remove({ sql, disk, sample, goesOn });
  }
}
