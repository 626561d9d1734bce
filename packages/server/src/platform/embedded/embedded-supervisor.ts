import { setTimeout as sleep } from 'node:timers/promises';
import type { DiskSpace } from './disk-watch.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts';
import type { Log } from '../log.ts';

/** The supervisor gives up after this number of failed starts in a row. */
const maxAttempts = 6;
const firstPauseMs = 500;
const longestPauseMs = 10_000;
/** A server that ran for this long had started well: the count of attempts starts again. */
const stableMs = 60_000;
const diskPollMs = 500;

/** The embedded database, restarted when it exits on its own. */
export interface SupervisedPostgres extends Pick<EmbeddedPostgres, 'address' | 'stop'> {
  /** Resolves with the last error of the server when the supervisor gives up. */
  readonly gaveUp: Promise<string>;
}

interface SupervisorOptions {
  readonly disk: DiskSpace;
  readonly log: Log;
  /** Called once, as the server starts for the first time. */
  readonly meanwhile: (() => void) | undefined;
}

/**
 * Starts the embedded database and restarts it whenever it exits without being stopped: after a pause that grows with each
 * attempt, and not before its disk has free space, since a full disk may be why it exited. Requests fail with
 * `database_unavailable` until it runs again.
 */
export async function superviseEmbeddedPostgres(
  dataDir: string,
  { disk, log, meanwhile }: SupervisorOptions,
): Promise<SupervisedPostgres> {
  const gaveUp = Promise.withResolvers<string>();
  const first = await startEmbeddedPostgres(dataDir, {}, meanwhile);
  let latest = Promise.resolve(first);
  const stopped = new AbortController();

  /** `null` if the supervisor was stopped meanwhile. */
  const restart = async (attempt: number): Promise<EmbeddedPostgres | null> => {
    await sleep(Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs), undefined, { ref: false });
    while (disk.isFull && !stopped.signal.aborted) await sleep(diskPollMs, undefined, { ref: false });
    if (stopped.signal.aborted) return null;
    latest = startEmbeddedPostgres(dataDir);
    return latest;
  };
  const supervise = async (): Promise<void> => {
    let server: EmbeddedPostgres | null = first;
    let reason = '';
    let attempts = 0;
    while (!stopped.signal.aborted) {
      if (server !== null) {
        const startedAt = performance.now();
        reason = await server.died;
        if (performance.now() - startedAt > stableMs) attempts = 0;
      }
      if (attempts === maxAttempts) return gaveUp.resolve(reason);
      attempts += 1;
      log.error({ reason, attempt: attempts, of: maxAttempts }, 'the embedded database exited; restarting it');
      server = await restart(attempts).catch((error: unknown) => {
        reason = error instanceof Error ? error.message : String(error);
        return null;
      });
      if (server !== null) log.warn('the embedded database is running again');
    }
  };
  void supervise();

  return {
    address: first.address,
    gaveUp: gaveUp.promise,
    async stop() {
      stopped.abort();
      // A server that is still starting is stopped as soon as it runs.
      await latest.then(
        async (server) => server.stop(),
        () => undefined,
      );
    },
  };
}
