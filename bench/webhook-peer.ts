import { setTimeout as sleep } from 'node:timers/promises';
import { wallMs } from './clock.ts';
import type { Work } from './webhook-post.ts';

export type PeerQuestion = { readonly kind: 'fill'; readonly work: Work } | { readonly kind: 'drain' };

/** A contestant in a process of its own: it puts the work where it will look for it, and later does it. */
interface Peer {
  readonly fill: (work: Work) => Promise<void>;
  /** Resolves when everything was sent, and nothing is left to be done about it. */
  readonly drain: (work: Work) => Promise<void>;
}

/** Answers questions of the run: the second one by when it was done. */
export function contend({ fill, drain }: Peer): void {
  let work: Work | null = null;
  const answer = async (question: PeerQuestion): Promise<void> => {
    if (question.kind === 'fill') {
      work = question.work;
      await fill(work);
      process.send?.('filled');
    } else {
      if (work === null) throw new Error('there is no work yet');
      await drain(work);
      process.send?.(wallMs());
    }
  };
  process.on('message', (question) => void answer(question as PeerQuestion));
  process.once('disconnect', () => process.exit());
}

const pollMs = 5;

/** Of a queue that does not say when it has finished: asks until nothing is left. */
export async function untilNothing(isLeft: () => Promise<boolean>): Promise<void> {
  while (await isLeft()) await sleep(pollMs);
}
