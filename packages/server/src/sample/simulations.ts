import { setTimeout as pause } from 'node:timers/promises';
import type { FileDisk } from '../engagements/files/disk.ts';
import type { Tokens } from '../identity/tokens.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database.ts';
import { DueWork } from '../platform/due-work.ts';
import type { App } from '../platform/http.ts';
import type { Log } from '../platform/log.ts';
import { act } from './act.ts';
import { clear } from './clear.ts';
import { SampleClient } from './client.ts';
import { plan } from './plan.ts';
import { readWorld } from './read-world.ts';
import { remove } from './remove.ts';
import type { TakenSample } from './sample-data.ts';
import { keepSample, returnSample, settleSample, takeSamples } from './store.ts';

/** How fast those who are made up live, and how often it is looked what they do next. */
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
/** What was done last is remembered, so that it is not done twice before it shows. */
const mostRemembered = 5_000;

interface SimulationsParts {
  readonly app: App;
  readonly sql: Sql;
  readonly tokens: Tokens;
  readonly disk: FileDisk;
  readonly log: Log;
  readonly pace?: Partial<Pace>;
}

/**
 * Acts in sample data, in one process at a time: it reads what goes on at the sample site, decides what happens next (`plan.ts`)
 * and does it through the public API. It keeps nothing that another process could not read as well, so that one can go on
 * where it ends, whenever that is.
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
    const client = this.#client(sample);
    const done = new BoundedMap<string, true>(mostRemembered);
    let since = Date.now();
    while (!this.#stopping.signal.aborted) {
      const state = await keepSample(sql, sample, this.#pace.leaseMs);
      if (state === null) return;
      if (state === 'removing') return this.#remove(sample);
      if (state === 'stopped') {
        if (await clear(sql, sample, client, 'ours')) await settleSample(sql, sample);
        return;
      }
      const now = Date.now();
      await this.#act(sample, client, { now, since, done });
      since = now;
      await pause(this.#pace.lookEveryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    await returnSample(sql, sample);
  }

  async #act(
    sample: TakenSample,
    client: SampleClient,
    { now, since, done }: { now: number; since: number; done: Map<string, true> },
  ): Promise<void> {
    const [host] = sample.operator_ids;
    if (host === undefined) throw new Error('sample data without operators');
    const world = await readWorld(this.#parts.sql, sample);
    const { speed } = this.#pace;
    const actions = plan(world, { seed: sample.seed, now, since, speed }).filter(({ key }) => !done.has(key));
    const acting = { client, siteId: sample.site_id, host: { kind: 'operator', id: host } } as const;
    await Promise.all(
      actions.map(async (action) => {
        done.set(action.key, true);
        if (!(await act(action, acting))) done.delete(action.key);
      }),
    );
  }

  async #remove(sample: TakenSample): Promise<void> {
    const { sql, disk } = this.#parts;
    // Those of the sample leave wherever they are.
    const client = this.#client(sample, 'everywhere');
    const goesOn = async (): Promise<boolean> =>
      !this.#stopping.signal.aborted && (await keepSample(sql, sample, this.#pace.leaseMs)) !== null;
    const isClear = await clear(sql, sample, client, 'all');
    if (isClear && (await remove({ sql, disk, sample, goesOn }))) return;
    await returnSample(sql, sample);
  }

  #client(sample: TakenSample, where: 'sample site' | 'everywhere' = 'sample site'): SampleClient {
    const { app, sql, tokens } = this.#parts;
    return new SampleClient({ app, sql, tokens, sample, onlyOn: where === 'everywhere' ? null : sample.site_id });
  }
}
