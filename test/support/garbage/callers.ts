import type { Cast } from '../api/cast.ts';
import { tokenOf } from '../api/cast.ts';
import { callerKinds, type CallerKind } from '../api/expected-access.ts';
import { linkOf, openSession } from '../people/sign-in.ts';
import { call } from '../server.ts';
import { expectStatus, makeAccessToken, makeApplicationToken, makeOperator, makeVisitor } from '../world.ts';
import type { Header } from './draft.ts';
import type { Owner, Secrets } from './secrets.ts';

/** Somebody who sends garbage. */
export interface GarbageCaller {
  readonly name: string;
  /** The kind of caller as routes declare it. */
  readonly kind: CallerKind;
  /** Whose data they may read; nobody else's may be in an answer. */
  readonly mayRead: ReadonlySet<Owner>;
  /** The headers that say who they are. `visitorToken` belongs to the visitor whom the request is about. */
  headersFor(visitorToken: string): readonly Header[];
}

const readable: Readonly<Record<CallerKind, readonly Owner[]>> = {
  nobody: [],
  garbage: [],
  expired: [],
  // A visitor sees how the site calls its queues and operators, but nobody's conversation.
  visitor: ['own site'],
  publishable: ['own site'],
  secret: ['own site', 'bystander'],
  operator: ['own site', 'bystander'],
  manager: ['own site', 'bystander'],
  super_manager: ['own site', 'bystander'],
  elsewhere: ['other site'],
  stranger: ['stranger'],
};

/** One caller of each kind that routes know, and of those that differ in how they sign in or where they belong. */
export async function openCallers(cast: Cast, { bystander }: Secrets): Promise<GarbageCaller[]> {
  const { server, account, stranger, otherSite, staff } = cast;
  const caller = (
    name: string,
    kind: CallerKind,
    authorization: string | undefined,
    mayRead: readonly Owner[] = readable[kind],
  ): GarbageCaller => {
    const headers: Header[] = authorization === undefined ? [] : [['authorization', bearer(authorization)]];
    return { name, kind, mayRead: new Set(mayRead), headersFor: () => headers };
  };
  const plain = await Promise.all(
    callerKinds.map(async (kind): Promise<GarbageCaller> => {
      if (kind !== 'visitor') return caller(kind, kind, await tokenOf(cast, kind, ''));
      const headersFor = (token: string): readonly Header[] => [['authorization', bearer(token)]];
      return { name: kind, kind, mayRead: new Set(readable[kind]), headersFor };
    }),
  );
  const session = await openSession(server, { link: await linkOf(server, account.adminId) });
  const cookieOnly: readonly Header[] = [['cookie', session.cookie]];
  const whole: readonly Owner[] = ['own site', 'bystander', 'other site'];
  return [
    ...plain,
    caller('bystander', 'visitor', bystander.token, ['own site', 'bystander']),
    caller('visitor of the other site', 'visitor', (await makeVisitor(server, account, otherSite)).token, [
      'other site',
    ]),
    caller('visitor of the stranger', 'visitor', (await makeVisitor(server, stranger)).token, ['stranger']),
    caller('application of the stranger', 'secret', (await makeApplicationToken(server, stranger, 'secret')).header, [
      'stranger',
    ]),
    caller('administrator', 'super_manager', account.admin, whole),
    caller('access token', 'operator', (await makeAccessToken(server, account, staff.operator.id)).token),
    caller('limited token', 'elsewhere', await limitedToken(cast), ['other site']),
    caller('revoked token', 'garbage', await revokedToken(cast)),
    caller('session', 'super_manager', session.token, whole),
    { name: 'cookie', kind: 'nobody', mayRead: new Set(whole), headersFor: () => cookieOnly },
  ];
}

function bearer(token: string): string {
  return token.includes(' ') ? token : `Bearer ${token}`;
}

/** The administrator's token for the other site alone. */
async function limitedToken({ server, account, otherSite }: Cast): Promise<string> {
  const { id: api_key_id, secret: api_key_secret } = account.key;
  const body = { api_key_id, api_key_secret, site_ids: [otherSite] };
  return expectStatus(await call(server, 'POST /operator_authentication/tokens', { body }), 200).body.token;
}

/** The token of an operator who has signed out. */
async function revokedToken({ server, account }: Cast): Promise<string> {
  const { token } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const signedOut = await call(server, 'DELETE /operator_authentication/sessions/current', { token });
  expectStatus(signedOut, 204);
  return token;
}
