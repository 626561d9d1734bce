import { act } from './act.ts';
import { endActive } from './end-active.ts';
import type { Host } from './host.ts';
import { plan } from './plan.ts';
import type { Scope } from './world.ts';

/** Recent actions are remembered, so that none is repeated before its effect is visible. */
const maxRemembered = 5_000;

/**
 * The simulated people of one sample. They read the state of the site, plan the next actions (`plan.ts`) and carry them out through
 * the public API. Their state is in the database, so another process can continue at any time.
 */
export class Actors {
  readonly #host: Host;
  readonly #speed: number;
  readonly #done = new Set<string>();
  #since = Date.now();

  /** `speed`: simulated seconds per real second. */
  constructor(host: Host, speed: number) {
    this.#host = host;
    this.#speed = speed;
  }

  /** Carries out everything that is due now. */
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

  /** Ends active tickets, requests and engagements. `false`: some remain. */
  async endActive(scope: Scope): Promise<boolean> {
    return endActive(this.#host, scope);
  }

  #remember(key: string): void {
    this.#done.add(key);
    const [oldest] = this.#done;
    if (this.#done.size > maxRemembered && oldest !== undefined) this.#done.delete(oldest);
  }
}
