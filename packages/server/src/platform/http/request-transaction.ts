import type { FastifyRequest } from 'fastify';
import { inTransaction, type Sql } from '../database/database.ts';
import type { AroundHandler, ForRoute } from './request-path.ts';

/** Sends one statement. */
type SendStatement = () => Promise<unknown>;

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Runs the statements of this request: the pool (for a change the share of its account), or inside of the step `inOneTransaction` the
     * transaction. Handlers read it. Only `setSql` assigns it.
     */
    readonly sql: Sql;
    /** The statements that are sent together with COMMIT. Absent outside of `inOneTransaction`. */
    lastStatements?: SendStatement[] | undefined;
  }
}

/** For the steps in `edge.ts` and `create-app.ts`, which decide where the statements of a request run. */
export function setSql(request: FastifyRequest, sql: Sql): void {
  const assignable: { sql: Sql } = request;
  assignable.sql = sql;
}

/** Whether a request to the route needs a transaction. */
export type NeedsTransaction = ForRoute<(request: FastifyRequest) => boolean>;

/**
 * Runs the steps after this one and the handler in one transaction, if any of the reasons applies to the request. It is committed before the
 * answer is sent. A refusal rolls it back. After a lost deadlock all of it runs once more.
 */
export function inOneTransaction(...reasons: readonly NeedsTransaction[]): ForRoute<AroundHandler> {
  return (route) => {
    const ofRoute = reasons.map((reason) => reason(route)).filter((applies) => applies !== null);
    if (ofRoute.length === 0) return null;
    return async (request, reply, next) => {
      if (!ofRoute.some((applies) => applies(request))) return next(request, reply);
      return transact(request, async () => next(request, reply));
    };
  };
}

/** Sends a statement of the request's transaction together with its COMMIT, which saves a round trip. */
export function sendWithCommit(request: FastifyRequest, send: SendStatement): void {
  if (request.lastStatements === undefined) throw new Error('the request has no transaction');
  request.lastStatements.push(send);
}

async function transact(request: FastifyRequest, run: () => Promise<unknown>): Promise<unknown> {
  const pool = request.sql;
  try {
    return await inTransaction(pool, async (sql, finish) => {
      const last: SendStatement[] = [];
      setSql(request, sql);
      request.lastStatements = last;
      const answer = await run();
      if (last.length > 0) await finish(last.map(async (send) => send()));
      return answer;
    });
  } finally {
    setSql(request, pool);
    request.lastStatements = undefined;
  }
}
