import { setTimeout as sleep } from 'node:timers/promises';
import { wallMs } from '../measuring/clock.ts';
import type { Work } from './webhook-post.ts';

export type PeerRequest = { readonly kind: 'fill'; readonly work: Work } | { readonly kind: 'drain' };

/** A contestant in its own process: `fill` stores the work, `drain` does it. */
interface Peer {
  readonly fill: (work: Work) => Promise<void>;
  /** Resolves when all events were sent and their outcomes are stored. */
  readonly drain: (work: Work) => Promise<void>;
}

/** Answers the requests of the benchmark. The answer to `drain` is the time at which it finished. */
export function runPeer({ fill, drain }: Peer): void {
  let work: Work | null = null;
  const answer = async (request: PeerRequest): Promise<void> => {
    if (request.kind === 'fill') {
      work = request.work;
      await fill(work);
      process.send?.('filled');
    } else {
      if (work === null) throw new Error('drain was requested before fill');
      await drain(work);
      process.send?.(wallMs());
    }
  };
  process.on('message', (request) => void answer(request as PeerRequest));
  process.once('disconnect', () => process.exit());
}

const pollMs = 5;

/** Polls a job queue that does not report when it has finished. */
export async function waitUntilEmpty(hasJobs: () => Promise<boolean>): Promise<void> {
  while (await hasJobs()) await sleep(pollMs);
}
