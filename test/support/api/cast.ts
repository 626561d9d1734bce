import type { Role } from '@usher/contract/roles';
import { importJWK, SignJWT, type JWK } from 'jose';
import type { Config } from '../../../packages/server/src/config.ts';
import type { SiteId } from '../../../packages/server/src/platform/ids.ts';
import { startCarrier } from '../services/carrier.ts';
import type { CallerKind } from './expected-access.ts';
import { call, startTestServer, type TestServer } from '../server.ts';
import type { DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import {
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeSite,
  type TestAccount,
  type TestOperator,
} from '../world.ts';

/** A server on which every route can succeed, and one caller of each kind. */
export interface Cast {
  readonly server: TestServer;
  readonly account: TestAccount;
  /** The super_manager of another account. */
  readonly stranger: TestAccount;
  readonly otherSite: SiteId;
  readonly staff: Readonly<Record<Role | 'elsewhere', TestOperator>>;
  readonly applications: Readonly<Record<'publishable' | 'secret', string>>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the server on a new database, or on the given one. */
export async function openCast(address?: DatabaseAddress, more: Partial<Config> = {}): Promise<Cast> {
  const carrier = await startCarrier();
  const server = await startTestServer(
    { scanner: { kind: 'manual' }, twilio: carrier.settings, trustProxy: true, ...more },
    address,
  );
  const account = await makeAccount(server);
  const stranger = await makeAccount(server);
  const otherSite = await makeSite(server, account);
  const on = async (site_id: string, role: Role): Promise<TestOperator> =>
    makeOperator(server, account, [{ site_id, role }]);
  return {
    server,
    account,
    stranger,
    otherSite,
    staff: {
      operator: await on(account.siteId, 'operator'),
      manager: await on(account.siteId, 'manager'),
      super_manager: await on(account.siteId, 'super_manager'),
      elsewhere: await on(otherSite, 'super_manager'),
    },
    applications: {
      publishable: (await makeApplicationToken(server, account, 'publishable')).header,
      secret: (await makeApplicationToken(server, account, 'secret')).header,
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await carrier[Symbol.asyncDispose]();
    },
  };
}

/** The token of a caller of that kind. `visitorToken` is the token of the visitor whom the request is about. */
export async function tokenOf(cast: Cast, kind: CallerKind, visitorToken: string): Promise<string | undefined> {
  switch (kind) {
    case 'nobody':
      return undefined;
    case 'garbage':
      return 'eyJhbGciOiJub25lIn0.e30.';
    case 'expired':
      return expiredToken(cast);
    case 'visitor':
      return visitorToken;
    case 'publishable':
    case 'secret':
      return cast.applications[kind];
    case 'stranger':
      return cast.stranger.admin;
    default:
      return cast.staff[kind].token;
  }
}

async function expiredToken({ server, account }: Cast): Promise<string> {
  const [row] = await server.database.sql<{ id: string; private_jwk: JWK }[]>`SELECT id, private_jwk FROM signing_keys`;
  if (row === undefined) throw new Error('there is no signing key');
  const past = Math.floor(Date.now() / 1000) - 10;
  return new SignJWT({ account: '', kind: 'operator', key: account.key.id })
    .setProtectedHeader({ alg: 'EdDSA', kid: row.id })
    .setIssuer('usher')
    .setSubject(account.adminId)
    .setJti(crypto.randomUUID())
    .setExpirationTime(past)
    .sign(await importJWK(row.private_jwk, 'EdDSA'));
}

/** Ends all engagements and cancels all pending requests of the staff and of `other`, so that they have capacity again. */
export async function freeOperators({ server, account, staff }: Cast, other?: TestOperator): Promise<void> {
  for (const { id: operatorId, token } of [...Object.values(staff), ...(other === undefined ? [] : [other])]) {
    const { body: list } = await call(server, `GET /engagements?site_ids[]=${account.siteId}&state=active`, { token });
    for (const { id, operator_id } of list.engagements ?? [])
      if (operator_id === operatorId)
        await call(server, `PATCH /engagements/${id}`, { token, body: { action: 'end' } });
    const { body: pending } = await call(server, 'GET /engagement_requests?state=pending', { token });
    for (const { id } of pending.engagement_requests)
      await call(server, `PATCH /engagement_requests/${id}`, { token, body: { action: 'cancel' } });
  }
}
