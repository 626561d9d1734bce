import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Sql } from './database.ts';

/** Handlers' parameters are typed by the route's own TypeBox schemas. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxProvider>;

/** The type of an answer that a handler returns as text, because it is kept as JSON already. */
export const rendered = 'application/json; charset=utf-8';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where this request's statements go: the pool, or the transaction that its Idempotency-Key asks for. */
    sql: Sql;
  }
}
