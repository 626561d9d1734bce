import Type from 'typebox';
import type { App } from '../platform/http.ts';
import { chance } from './chance.ts';

export const receiverPath = '/sample_data/receiver';

/** One in so many deliveries is refused at first, so that there are retries to look at. */
const refusedShare = 1 / 12;
/** For so long after what it tells of has happened. */
const refusedForSec = 4;

/**
 * Where the webhook of sample data delivers to: a receiver that takes what it is given, mostly. It keeps nothing and looks at
 * nothing but what a delivery is called and when it was first due, so anybody may call it.
 */
export function receiverRoute(app: App): void {
  app.post(
    receiverPath,
    {
      config: { access: { public: true }, changesNothing: true, audit: 'no operator' },
      schema: {
        tags: ['Sample data'],
        summary: "Takes what the sample data's own webhook delivers; refuses now and then, for a few seconds",
        body: Type.Unsafe<unknown>({}),
        response: { 204: Type.Null(), 503: Type.Null() },
      },
    },
    async ({ headers, body }, reply) => {
      const id = headers['webhook-id'];
      const isPicked = typeof id === 'string' && chance(0, 'refused', id) < refusedShare;
      reply.code(isPicked && ageSec(body) < refusedForSec ? 503 : 204);
    },
  );
}

function ageSec(event: unknown): number {
  const told = typeof event === 'object' && event !== null && 'dispatched_at' in event ? event.dispatched_at : null;
  return typeof told === 'string' ? (Date.now() - Date.parse(told)) / 1000 : Infinity;
}
