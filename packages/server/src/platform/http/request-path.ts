import type {
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onResponseHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify';
import type { App } from './http.ts';

/** The steps after this one, and then the handler. */
type Next = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** A step around the handler. It may call `next` never, once, or again after a lost deadlock. */
export type AroundHandler = (request: FastifyRequest, reply: FastifyReply, next: Next) => unknown;

/** Makes the step of one route when the route is registered. `null`: the route does not need it, and does not pay for it. */
export type ForRoute<Step> = (route: RouteOptions) => Step | null;

/** Steps at one moment. Those of all requests come first, and also see requests to unknown paths. */
interface Moment<Step> {
  readonly all?: readonly Step[];
  readonly perRoute?: readonly ForRoute<Step>[];
}

/** What happens to a request, in order. The route's own hooks run after the steps of the same moment. */
export interface RequestPath {
  /** When a route is registered: what it must declare. */
  readonly atRegistration?: readonly ((route: RouteOptions) => void)[];
  /** The headers have arrived; the body has not been read. */
  readonly onRequest?: Moment<onRequestHookHandler>;
  /** The body has been read and validated. */
  readonly preHandler?: Moment<preHandlerHookHandler>;
  /** The first step is the outermost: it begins first and ends last. */
  readonly aroundHandler?: readonly ForRoute<AroundHandler>[];
  /** There is an answer or an error, and it has not been sent. */
  readonly onSend?: Moment<onSendHookHandler>;
  /** The response has been sent, or its socket is closed. */
  readonly onResponse?: Moment<onResponseHookHandler>;
}

/** Applies the path to the routes that are registered from now on. */
export function installPath(app: App, path: RequestPath): void {
  for (const step of path.onRequest?.all ?? []) app.addHook('onRequest', step);
  for (const step of path.preHandler?.all ?? []) app.addHook('preHandler', step);
  for (const step of path.onSend?.all ?? []) app.addHook('onSend', step);
  for (const step of path.onResponse?.all ?? []) app.addHook('onResponse', step);
  app.addHook('onRoute', (route) => {
    for (const declare of path.atRegistration ?? []) declare(route);
    route.onRequest = [...stepsOf(route, path.onRequest?.perRoute), ...[route.onRequest ?? []].flat()];
    route.preHandler = [...stepsOf(route, path.preHandler?.perRoute), ...[route.preHandler ?? []].flat()];
    route.onSend = [...stepsOf(route, path.onSend?.perRoute), ...[route.onSend ?? []].flat()];
    route.onResponse = [...stepsOf(route, path.onResponse?.perRoute), ...[route.onResponse ?? []].flat()];
    route.handler = stepsOf(route, path.aroundHandler).reduceRight(surround, route.handler);
  });
}

function stepsOf<Step>(route: RouteOptions, makers: readonly ForRoute<Step>[] = []): Step[] {
  return makers.map((make) => make(route)).filter((step) => step !== null);
}

/** No handler of ours uses `this`. */
function surround(handler: RouteHandlerMethod, step: AroundHandler): RouteHandlerMethod {
  return function runStep(request, reply) {
    return step(request, reply, handler);
  };
}
