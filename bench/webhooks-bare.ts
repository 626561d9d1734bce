import { randomUUID } from 'node:crypto';
import { messageEvent } from './webhook-events.ts';
import { contend } from './webhook-peer.ts';
import { Poster } from './webhook-post.ts';

/** The least there is: requests with bodies that lie ready, neither signed nor written down anywhere. */
let events: { readonly id: string; readonly body: string }[] = [];

contend({
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
