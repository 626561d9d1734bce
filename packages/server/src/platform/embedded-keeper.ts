import { setTimeout as sleep } from 'node:timers/promises';
import type { DiskSpace } from './disk-room.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts';
import type { Log } from './log.ts';

/** So many starts in a row may fail before the keeper gives up. */
const mostAttempts = 6;
const firstPauseMs = 500;
const longestPauseMs = 10_000;
/** A server that ran for so long had started well: the next one has all attempts again. */
const soundMs = 60_000;
const roomMs = 500;

/** The embedded database, started again when it ends by itself. */
export interface KeptPostgres extends Pick<EmbeddedPostgres, 'address' | 'stop'> {
  /** Resolves with what the server last said once the keeper has given up. */
  readonly gaveUp: Promise<string>;
}

/**
 * Starts the embedded database and starts it again whenever it ends without having been asked to: after a pause, longer each time,
 * and not before there is room on its disk, which may be what it ended for. Whoever asks it something meanwhile is told
 * that it does not answer.
 */
export async function keepEmbeddedPostgres(dataDir: string, room: DiskSpace, log: Log): Promise<KeptPostgres> {
  const gaveUp = Promise.withResolvers<string>();
  const first = await startEmbeddedPostgres(dataDir);
  let latest = Promise.resolve(first);
  const stopped = new AbortController();

  /** `null`: the keeper has been stopped meanwhile. */
  const startAgain = async (attempt: number): Promise<EmbeddedPostgres | null> => {
    await sleep(Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs), undefined, { ref: false });
    while (room.isFull && !stopped.signal.aborted) await sleep(roomMs, undefined, { ref: false });
    if (stopped.signal.aborted) return null;
    latest = startEmbeddedPostgres(dataDir);
    return latest;
  };
  const keep = async (): Promise<void> => {
    let server: EmbeddedPostgres | null = first;
    let reason = '';
    let attempts = 0;
    while (!stopped.signal.aborted) {
      if (server !== null) {
        const startedAt = performance.now();
        reason = await server.died;
        if (performance.now() - startedAt > soundMs) attempts = 0;
      }
      if (attempts === mostAttempts) return gaveUp.resolve(reason);
      attempts += 1;
      log.error({ reason, attempt: attempts, of: mostAttempts }, 'the embedded database ended; it is started again');
      server = await startAgain(attempts).catch((error: unknown) => {
        reason = error instanceof Error ? error.message : String(error);
        return null;
      });
      if (server !== null) log.warn('the embedded database runs again');
    }
  };
  void keep();

  return {
    address: first.address,
    gaveUp: gaveUp.promise,
    async stop() {
      stopped.abort();
      // A server that is just being started is stopped once it runs.
      await latest.then(
        async (server) => server.stop(),
        () => undefined,
      );
    },
  };
}
