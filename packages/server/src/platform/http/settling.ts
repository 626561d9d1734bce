import type { onSendHookHandler } from 'fastify';
import type { ForRoute } from './request-path.ts';
import type { RowChanges } from '../database/row-changes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes cached rows: it answers after this process has received its own change. */
    settles?: true;
  }
}

/** Lets callers read their own writes: their next request to this process sees the change that was just confirmed. */
export function settle(changes: RowChanges): ForRoute<onSendHookHandler> {
  return ({ config }) =>
    config?.settles === true
      ? async (_request: unknown, _reply: unknown, payload: unknown) => {
          await changes.settled();
          return payload;
        }
      : null;
}
