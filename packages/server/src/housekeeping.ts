import type { ClockWatch } from './platform/clock/clock-watch.ts';
import type { Log } from './platform/log.ts';
import type { PeriodicWork, WorkRuns } from './platform/periodic-work.ts';
import type { Sweeps } from './platform/room.ts';

const intervalMs = 10 * 60_000;
/** A long task stops after this time; the next sweep continues it. */
const longestTaskMs = 60_000;

interface HousekeepingOptions {
  /** The tasks of the rooms, in the order of the rooms. */
  readonly sweeps: readonly Sweeps[];
  readonly clock: Pick<ClockWatch, 'sweepTime' | 'onStep'>;
  readonly log: Log;
  readonly work?: PeriodicWork;
}

interface SweepTask {
  readonly name: string;
  readonly runs: WorkRuns | undefined;
}

/**
 * Runs the sweeps of all rooms, which create partitions in advance and delete expired rows: at the start, every ten minutes,
 * and after a step of the clock. Every process runs them.
 *
 * A deletion cannot be undone, so a wrong clock must not cause one. Before each sweep the clock is checked (`sweepTime`), and
 * every deletion uses the instant that passed the check: a step of the clock during the sweep has no effect.
 */
export function startHousekeeping({ sweeps, clock, log, work }: HousekeepingOptions): () => void {
  const named = <Task>(tasks: Readonly<Record<string, Task>> = {}) =>
    Object.entries(tasks).map(([name, task]) => ({ name, task, runs: work?.add(name, intervalMs / 1_000) }));
  const always = sweeps.flatMap((each) => named(each.always));
  const expired = sweeps.flatMap((each) => named(each.expired));
  const clockCheck = { name: 'check_clock', runs: work?.add('check_clock', intervalMs / 1_000) };
  let stopped = false;
  let refusal: string | null = null;
  const timeLimit = (): (() => boolean) => {
    const end = performance.now() + longestTaskMs;
    return () => !stopped && performance.now() < end;
  };
  // The other tasks still run after one has failed.
  const attempt = async (run: () => Promise<void>, { name, runs }: SweepTask): Promise<void> => {
    try {
      if (stopped) return;
      await run();
      runs?.succeeded();
    } catch (error) {
      // Stopping closes the connection of a running sweep; the next start repeats the sweep.
      if (stopped) return;
      runs?.failed();
      log.warn({ err: error, sweep: name }, 'housekeeping failed; retrying at the next sweep');
    }
  };
  const removeExpired = async (): Promise<void> => {
    const time = await clock.sweepTime();
    const why = time.mayDelete ? null : time.why;
    // Logged once, not every ten minutes.
    if (why !== null && why !== refusal)
      log.warn({ why }, 'the clock may be wrong; deleting nothing until it is confirmed');
    refusal = why;
    if (time.mayDelete)
      for (const each of expired) {
        const shouldContinue = timeLimit();
        await attempt(async () => each.task(time, shouldContinue), each);
      }
  };
  const sweep = async (): Promise<void> => {
    for (const each of always) {
      const shouldContinue = timeLimit();
      await attempt(async () => each.task(shouldContinue), each);
    }
    await attempt(removeExpired, clockCheck);
  };
  void sweep();
  clock.onStep(() => void sweep());
  const timer = setInterval(() => void sweep(), intervalMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
