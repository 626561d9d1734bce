import type { onSendHookHandler } from 'fastify';
import type { ForRoute } from './request-path.ts';
import type { RowChanges } from '../database/row-changes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes cached rows: it answers after this process has received its own change. */
    changesCaches?: true;
  }
}

/** Lets callers read their own writes: their next request to this process sees the change that was just confirmed. */
export function waitForCaches(changes: RowChanges): ForRoute<onSendHookHandler> {
  return ({ config }) =>
    config?.changesCaches === true
      ? async (_request: unknown, _reply: unknown, payload: unknown) => {
          await changes.caughtUp();
          return payload;
        }
      : null;
}
