import Type from 'typebox';
import type { App } from '../platform/http/http.ts';

export const receiverPath = '/sample_data/receiver';

/**
 * The receiver of the sample data's webhook. It accepts most deliveries, stores nothing, and reads only the delivery's id and the time
 * of the event, so anybody may call it.
 */
export function receiverRoute(app: App): void {
  app.post(
    receiverPath,
    {
      config: { access: { public: true }, readOnly: true },
      schema: {
        // Only the webhook of the sample data calls it.
        hide: true,
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
  const time = typeof event === 'object' && event !== null && 'dispatched_at' in event ? event.dispatched_at : null;
  return typeof time === 'string' ? (Date.now() - Date.parse(time)) / 1000 : Infinity;
}
