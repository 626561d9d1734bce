import { act } from './act.ts';
import { clear } from './clear.ts';
import type { Host } from './host.ts';
import { plan } from './plan.ts';
import type { Extent } from './world.ts';

/** The latest actions are remembered, so that none is done twice before its effect shows. */
const mostRemembered = 5_000;

/**
 * The made-up people of one sample. They look at what goes on, decide what happens next (`plan.ts`) and do it through the public
 * API. They keep nothing that another process could not read as well, so that one can go on where another ends.
 */
export class Actors {
  readonly #host: Host;
  readonly #speed: number;
  readonly #done = new Set<string>();
  #since = Date.now();

  /** `speed`: seconds that pass for them in each real one. */
  constructor(host: Host, speed: number) {
    this.#host = host;
    this.#speed = speed;
  }

  /** Does everything that is to be done now. */
  async act(): Promise<void> {
    const [now, since] = [Date.now(), this.#since];
    this.#since = now;
    const world = await this.#host.readWorld();
    const actions = plan(world, { seed: this.#host.seed, now, since, speed: this.#speed });
    await Promise.all(
      actions
        .filter(({ key }) => !this.#done.has(key))
        .map(async (action) => {
          this.#remember(action.key);
          if (!(await act(action, this.#host))) this.#done.delete(action.key);
        }),
    );
  }

  /** Ends what goes on. `false`: something is left. */
  async clear(extent: Extent): Promise<boolean> {
    return clear(this.#host, extent);
  }

  #remember(key: string): void {
    this.#done.add(key);
    const [oldest] = this.#done;
    if (this.#done.size > mostRemembered && oldest !== undefined) this.#done.delete(oldest);
  }
}
