import type { ClockWatch } from './platform/clock-watch.ts';
import type { Log } from './platform/log.ts';
import type { Sweeps } from './platform/room.ts';

const everyMs = 10 * 60_000;
/** A long task ends after so long; the next sweep goes on with it. */
const longestTaskMs = 60_000;

interface HousekeepingParts {
  /** Of the rooms, in order. */
  readonly sweeps: readonly Sweeps[];
  readonly clock: Pick<ClockWatch, 'sweepTime' | 'onStep'>;
  readonly log: Log;
}

/**
 * Makes room for what comes and removes what has expired: at the start, every ten minutes, and after a step of the clock.
 * Every process does it.
 *
 * What is deleted does not come back, so a wrong clock must not decide it. Before each sweep the clock is checked
 * (`sweepTime`), and the instant that passed the check is what every deletion goes by: a step during the sweep changes nothing.
 */
export function startHousekeeping({ sweeps, clock, log }: HousekeepingParts): () => void {
  const always = sweeps.flatMap((each) => each.always ?? []);
  const expired = sweeps.flatMap((each) => each.expired ?? []);
  let stopped = false;
  let refusal: string | null = null;
  // A task that fails does not keep the others from being done.
  const attempt = async (task: () => Promise<void>): Promise<void> => {
    try {
      if (!stopped) await task();
    } catch (error) {
      // Stopping takes the connection away from a sweep under way; the next start does it again.
      if (!stopped) log.warn({ err: error }, 'housekeeping failed; it is tried again');
    }
  };
  const removeExpired = async (): Promise<void> => {
    const time = await clock.sweepTime();
    const why = time.mayDelete ? null : time.why;
    // Said once, not every ten minutes.
    if (why !== null && why !== refusal) log.warn({ why }, 'nothing is deleted while the clock is in doubt');
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
  const timer = setInterval(() => void sweep(), everyMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
