import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider, RouteOptions } from 'fastify';
import type { Static, TSchema } from 'typebox';

/** Derives the types of a handler's parameters from the TypeBox schemas of its route. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxProvider>;

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isReadOnly({ method, config }: Pick<RouteOptions, 'method' | 'config'>): boolean {
  return config?.readOnly === true || [method].flat().every((each) => readingMethods.has(each));
}

/** The content type of a response that the handler returns as JSON text. */
export const rendered = 'application/json; charset=utf-8';

/**
 * Our properties of a request are set when they are known. They are not declared with `decorateRequest`: Fastify would set all of them in
 * each request, by name from a list, and V8 may turn an object with more than twelve properties that were set so into a hash table.
 */
declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes nothing although its method could: a search, a preview, a statistic with its query in the body. */
    readOnly?: true;
  }
}
