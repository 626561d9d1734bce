import type { RowChanges } from '../database/row-changes.ts';
import type { App } from './http.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes cached rows: it answers after this process has received its own change. */
    settles?: true;
  }
}

/** Lets callers read their own writes: their next request to this process sees the change that was just confirmed. */
export function installSettling(app: App, changes: RowChanges): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.settles !== true) return;
    route.onSend = [
      ...(route.onSend === undefined ? [] : [route.onSend].flat()),
      async (_request: unknown, _reply: unknown, payload: unknown) => {
        await changes.settled();
        return payload;
      },
    ];
  });
}
