import Type from 'typebox';
import type { App } from '../platform/http.ts';

export const receiverPath = '/sample_data/receiver';

/**
 * Where the webhook of sample data delivers to: a receiver that accepts most deliveries. The receiver keeps nothing and looks at
 * nothing but the id of a delivery and the time of its event, so anybody may call it.
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
      const { refuses } = await import('@usher/sample/receiver');
      const id = headers['webhook-id'];
      reply.code(typeof id === 'string' && refuses(id, ageSec(body)) ? 503 : 204);
    },
  );
}

function ageSec(event: unknown): number {
  const told = typeof event === 'object' && event !== null && 'dispatched_at' in event ? event.dispatched_at : null;
  return typeof told === 'string' ? (Date.now() - Date.parse(told)) / 1000 : Infinity;
}
