import { randomUUID } from 'node:crypto';
import { messageEvent } from './webhook-events.ts';
import { runPeer } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** The lower bound of the work: requests with prepared bodies, neither signed nor stored. */
let events: { readonly id: string; readonly body: string }[] = [];

runPeer({
  async fill({ count }) {
    events = Array.from({ length: count }, () => {
      const id = randomUUID();
      return { id, body: JSON.stringify(messageEvent(id)) };
    });
  },
  async drain(work) {
    const poster = new Poster(work);
    const lane = async (): Promise<void> => {
      for (let event = events.pop(); event !== undefined; event = events.pop()) await poster.post(event.id, event.body);
    };
    await Promise.all(Array.from({ length: work.concurrency }, lane));
  },
});
