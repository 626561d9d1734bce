import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { addressKey } from '../../platform/limits/rate-limit.ts';
import { body, list, uuid } from '../../platform/schema.ts';
import type { KeyOwner } from '../api-keys/store.ts';
import type { Directory } from '../directory.ts';
import { operatorTokenSeconds } from '../tokens.ts';
import { checkKey } from './check-key.ts';
import { invitationRoutes } from './invitations/routes.ts';
import type { SignInContext } from './sign-in-context.ts';
import { passwordRoutes } from './passwords/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';

const credentials = body({
  api_key_id: Type.String({ minLength: 1, maxLength: 64 }),
  api_key_secret: Type.String({ minLength: 1, maxLength: 256 }),
  site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
});
const expiresIn = Type.Integer({ description: 'Lifetime of the token in seconds' });
const tags = ['Tokens'];

export function signInRoutes(app: App, context: SignInContext): void {
  tokenRoutes(app, context);
  sessionRoutes(app, context);
  invitationRoutes(app, context);
  passwordRoutes(app, context);
}

/** For programs, which sign in with an API key. */
function tokenRoutes(app: App, { tokens, directory, attempts }: SignInContext): void {
  const signIn = async (request: FastifyRequest, given: Type.Static<typeof credentials>): Promise<string> => {
    attempts.take(addressKey(request.ip));
    const owner = await checkKey(request.sql, given.api_key_id, given.api_key_secret);
    const sites = given.site_ids ?? null;
    await refuseForeignSites(directory, owner, sites);
    return tokens.signOperator({ ...owner, by: { key: given.api_key_id }, sites });
  };

  app.post(
    '/operator_authentication/tokens',
    {
      config: { access: { public: true, shows: 'an API key' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Obtain a token with an API key',
        description: 'With site_ids, the token is limited to those sites.',
        body: credentials,
        response: { 200: Type.Object({ token: Type.String(), expires_in: expiresIn }) },
      },
    },
    async (request) => ({ token: await signIn(request, request.body), expires_in: operatorTokenSeconds }),
  );

  app.post(
    '/sites/tokens',
    {
      config: { access: { public: true, shows: 'an API key' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Obtain a token with an API key, for clients that expect access_token',
        description:
          'The same token as from POST /operator_authentication/tokens, under another name. It is valid for one hour; with site_ids it is limited to those sites.',
        body: credentials,
        response: { 200: Type.Object({ access_token: Type.String(), expires_in: expiresIn }) },
      },
    },
    async (request) => ({ access_token: await signIn(request, request.body), expires_in: operatorTokenSeconds }),
  );
}

async function refuseForeignSites(
  directory: Directory,
  owner: KeyOwner,
  sites: readonly SiteId[] | null,
): Promise<void> {
  if (sites === null) return;
  const operator = await directory.operators.get(owner.operatorId);
  const violations = sites.flatMap((site, index) =>
    operator?.roles.has(site) === true
      ? []
      : [{ attribute: `/site_ids/${index}`, detail: 'is not a site of this operator' }],
  );
  if (violations.length > 0) throw invalid(violations);
}
