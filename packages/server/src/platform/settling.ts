import type { ChangeFeed } from './change-feed.ts';
import type { App } from './http.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes rows that processes keep in memory: it answers once this process has heard of its own change. */
    settles?: true;
  }
}

/** Makes what a caller has just been told was done true for its very next request. */
export function installSettling(app: App, feed: ChangeFeed): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.settles !== true) return;
    route.onSend = [
      ...(route.onSend === undefined ? [] : [route.onSend].flat()),
      async (_request: unknown, _reply: unknown, payload: unknown) => {
        await feed.settled();
        return payload;
      },
    ];
  });
}
