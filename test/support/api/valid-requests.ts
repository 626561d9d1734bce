import type { DeclaredAccess } from '../../../packages/server/src/identity/declared-access.ts';
import { tokenOf, type Cast } from './cast.ts';
import type { CallerKind } from './expected-access.ts';
import type { Targets } from './route-targets.ts';
import { bodyOf, headersOf, queriesOf } from './valid-bodies.ts';
import { makeOperator } from '../world.ts';

export type Route = Pick<DeclaredAccess, 'method' | 'url'>;

export interface ValidRequest {
  readonly path: string;
  /** The required query parameters. */
  readonly query: string;
  readonly token: string | undefined;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that succeeds if a caller of that kind may use the route. */
export async function validRequest(
  cast: Cast,
  { method, url }: Route,
  { kind, targets }: { readonly kind: CallerKind; readonly targets: Targets },
): Promise<ValidRequest> {
  const route = `${method} ${url}`;
  const { ids, visitorToken } = targets;
  // Ending a session would end the caller for the requests that follow.
  const isOperator = kind in cast.staff || kind === 'stranger';
  const endsSession = isOperator && route === 'DELETE /operator_authentication/sessions/current';
  return {
    path: url.replaceAll(/:(\w+)/g, (_, id: string) => ids[id] ?? 'unknown'),
    query: queriesOf[route]?.(cast.account) ?? '',
    token: endsSession ? await freshToken(cast) : await tokenOf(cast, kind, visitorToken),
    body: await bodyOf(cast, route, { ids, kind }),
    headers: { ...headersOf[route], ...(ids['cookie'] && { cookie: ids['cookie'] }) },
  };
}

/** Whether the request succeeded. `/` and `/console` redirect to the console, which counts as success. */
export function hasSucceeded({ method, url }: Route, status: number): boolean {
  return status < 300 || (status === 302 && method === 'GET' && ['/', '/console'].includes(url));
}

async function freshToken({ server, account }: Cast): Promise<string> {
  return (await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }])).token;
}
