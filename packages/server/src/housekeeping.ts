import type { ClockWatch } from './platform/clock-watch.ts';
import type { Log } from './platform/log.ts';
import type { Sweeps } from './platform/room.ts';

const intervalMs = 10 * 60_000;
/** A long task stops after this time; the next sweep continues it. */
const longestTaskMs = 60_000;

interface HousekeepingOptions {
  /** The tasks of the rooms, in the order of the rooms. */
  readonly sweeps: readonly Sweeps[];
  readonly clock: Pick<ClockWatch, 'sweepTime' | 'onStep'>;
  readonly log: Log;
}

/**
 * Runs the sweeps of all rooms, which create partitions in advance and delete expired rows: at the start, every ten minutes,
 * and after a step of the clock. Every process runs them.
 *
 * A deletion cannot be undone, so a wrong clock must not cause one. Before each sweep the clock is checked (`sweepTime`), and
 * every deletion uses the instant that passed the check: a step of the clock during the sweep has no effect.
 */
export function startHousekeeping({ sweeps, clock, log }: HousekeepingOptions): () => void {
  const always = sweeps.flatMap((each) => each.always ?? []);
  const expired = sweeps.flatMap((each) => each.expired ?? []);
  let stopped = false;
  let refusal: string | null = null;
  // The other tasks still run after one has failed.
  const attempt = async (task: () => Promise<void>): Promise<void> => {
    try {
      if (!stopped) await task();
    } catch (error) {
      // Stopping closes the connection of a running sweep; the next start repeats the sweep.
      if (!stopped) log.warn({ err: error }, 'housekeeping failed; retrying at the next sweep');
    }
  };
  const removeExpired = async (): Promise<void> => {
    const time = await clock.sweepTime();
    const why = time.mayDelete ? null : time.why;
    // Logged once, not every ten minutes.
    if (why !== null && why !== refusal)
      log.warn({ why }, 'the clock may be wrong; deleting nothing until it is confirmed');
    refusal = why;
    if (time.mayDelete) for (const task of expired) await attempt(async () => task(time));
  };
  const sweep = async (): Promise<void> => {
    for (const task of always) {
      const end = performance.now() + longestTaskMs;
      await attempt(async () => task(() => stopped || performance.now() > end));
    }
    await attempt(removeExpired);
  };
  void sweep();
  clock.onStep(() => void sweep());
  const timer = setInterval(() => void sweep(), intervalMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
