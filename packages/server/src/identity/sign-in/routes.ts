import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { addressKey, type RateLimit } from '../../platform/rate-limit.ts';
import { body, list, oneOf, timestamp, uuid } from '../../platform/schema.ts';
import { operatorOf } from '../access.ts';
import { findKeyOwner, type KeyOwner } from '../api-keys/store.ts';
import { roles } from '../caller.ts';
import type { Directory } from '../directory.ts';
import { verifyAgainstNothing, verifySecret } from '../secrets.ts';
import { operatorTokenSeconds, type Tokens } from '../tokens.ts';
import { revokeToken } from './store.ts';

const credentials = body({
  api_key_id: Type.String({ minLength: 1, maxLength: 64 }),
  api_key_secret: Type.String({ minLength: 1, maxLength: 256 }),
  site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
});
const expiresIn = Type.Integer({ description: 'Seconds the token is valid for' });
const tags = ['Tokens'];

interface SignInOptions {
  readonly tokens: Tokens;
  readonly directory: Directory;
  readonly attempts: RateLimit;
}

export function signInRoutes(app: App, { tokens, directory, attempts }: SignInOptions): void {
  const signIn = async (request: FastifyRequest, given: Type.Static<typeof credentials>): Promise<string> => {
    attempts.take(addressKey(request.ip));
    const owner = await checkKey(request, given.api_key_id, given.api_key_secret);
    const sites = given.site_ids ?? null;
    await refuseForeignSites(directory, owner, sites);
    return tokens.signOperator({ ...owner, keyId: given.api_key_id, sites });
  };

  app.post(
    '/operator_authentication/tokens',
    {
      config: { access: { public: true }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Obtain a token with an API key',
        description: 'With site_ids the token reaches those sites only.',
        body: credentials,
        response: { 200: Type.Object({ token: Type.String(), expires_in: expiresIn }) },
      },
    },
    async (request) => ({ token: await signIn(request, request.body), expires_in: operatorTokenSeconds }),
  );

  app.post(
    '/sites/tokens',
    {
      config: { access: { public: true }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'The same, for clients that expect access_token',
        body: credentials,
        response: { 200: Type.Object({ access_token: Type.String(), expires_in: expiresIn }) },
      },
    },
    async (request) => ({ access_token: await signIn(request, request.body), expires_in: operatorTokenSeconds }),
  );

  sessionRoutes(app);
}

function sessionRoutes(app: App): void {
  const session = Type.Object({
    operator_id: uuid<'operator'>(),
    site_roles: Type.Record(Type.String(), oneOf(roles)),
    expires_at: timestamp,
  });

  app.get(
    '/operator_authentication/sessions/current',
    {
      config: { access: { operator: 'operator', site: 'none' } },
      schema: { tags, summary: 'Whose token this is and what it reaches', response: { 200: session } },
    },
    async (request) => {
      const { operatorId, roles: siteRoles, expiresAt } = operatorOf(request);
      return { operator_id: operatorId, site_roles: Object.fromEntries(siteRoles), expires_at: expiresAt };
    },
  );

  app.delete(
    '/operator_authentication/sessions/current',
    {
      config: { access: { operator: 'operator', site: 'none' }, settles: true, audit: 'signing in' },
      schema: { tags, summary: 'Revoke this token', response: { 204: Type.Null() } },
    },
    async (request, reply) => {
      await revokeToken(request.sql, operatorOf(request));
      reply.code(204);
    },
  );
}

/** One answer for an unknown key, a wrong secret and a disabled operator, after the same work. */
async function checkKey(request: FastifyRequest, id: string, secret: string): Promise<KeyOwner> {
  const owner = await findKeyOwner(request.sql, id);
  const matches = owner === null ? await verifyAgainstNothing(secret) : await verifySecret(secret, owner.secretHash);
  if (owner !== null && matches && owner.enabled) return owner;
  throw new Refusal(
    'invalid_credentials',
    'The API key is unknown, its secret is wrong, or its operator is disabled.',
    {
      headers: { 'www-authenticate': 'Bearer' },
    },
  );
}

async function refuseForeignSites(
  directory: Directory,
  owner: KeyOwner,
  sites: readonly SiteId[] | null,
): Promise<void> {
  if (sites === null) return;
  const known = await directory.operators.get(owner.operatorId);
  const violations = sites.flatMap((site, index) =>
    known?.roles.has(site) === true
      ? []
      : [{ attribute: `/site_ids/${index}`, detail: 'is not a site of this operator' }],
  );
  if (violations.length > 0) throw invalid(violations);
}
