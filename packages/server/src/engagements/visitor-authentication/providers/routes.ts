import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../../identity/access.ts';
import { recordChange } from '../../../identity/audit/audit.ts';
import type { Sealer } from '../../../identity/sealer.ts';
import type { AddressGuard } from '../../../platform/outbound/address-guard.ts';
import { violatedConstraint } from '../../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import { newId, type SiteId } from '../../../platform/ids.ts';
import { uuid } from '../../../platform/schema.ts';
import { clientSecretPurpose, providerInput, providerOutput, type ProviderId, type ProviderRow } from './provider.ts';
import { deleteProvider, findProvider, insertProvider, listProviders } from './store.ts';

const maxProviders = 20;
const tags = ['Visitor authentication'];
const siteParams = Type.Object({ site_id: uuid<'site'>() });
const providerParams = Type.Object({ site_id: uuid<'site'>(), provider_id: uuid<'visitor_authentication_provider'>() });
const access = { operator: 'super_manager', site: 'params.site_id' } as const;

/** Identity providers with which the visitors of a site can authenticate. */
export function providerRoutes(app: App, { guard, sealer }: { guard: AddressGuard; sealer: Sealer }): void {
  app.post(
    '/sites/:site_id/visitor_authentication_providers',
    {
      config: { access, audit: { action: 'visitor_authentication_provider.create', of: providerOutput } },
      schema: {
        tags,
        summary: 'Add an identity provider, with which visitors of the site can authenticate',
        description:
          "Usher reads the provider's OpenID Connect configuration from its issuer. A client_secret is stored encrypted and never shown.",
        params: siteParams,
        body: providerInput,
        response: { 201: providerOutput },
      },
      preHandler: async (request) => refuseAddress(guard, request.body.issuer),
    },
    async (request, reply) => {
      const { site_id: siteId } = request.params;
      const row = await addProvider(request, siteId, sealer);
      reply.code(201).header('location', `/sites/${siteId}/visitor_authentication_providers/${row.id}`);
      return row;
    },
  );

  app.get(
    '/sites/:site_id/visitor_authentication_providers',
    {
      config: { access },
      schema: {
        tags,
        summary: 'Identity providers of a site',
        description: 'Without their client secrets, which are never shown.',
        params: siteParams,
        response: { 200: Type.Object({ visitor_authentication_providers: Type.Array(providerOutput) }) },
      },
    },
    async (request) => ({
      visitor_authentication_providers: await listProviders(request.sql, request.params.site_id),
    }),
  );

  app.get(
    '/sites/:site_id/visitor_authentication_providers/:provider_id',
    {
      config: { access },
      schema: {
        tags,
        summary: 'One identity provider',
        description: 'Without its client secret, which is never shown.',
        params: providerParams,
        response: { 200: providerOutput },
      },
    },
    async (request) => {
      const { site_id: siteId, provider_id: id } = request.params;
      const found = await findProvider(request.sql, siteId, id);
      if (found === null) throw notFound('visitor authentication provider', id);
      return found;
    },
  );

  app.delete(
    '/sites/:site_id/visitor_authentication_providers/:provider_id',
    {
      config: { access, audit: { action: 'visitor_authentication_provider.delete', of: providerOutput } },
      schema: {
        tags,
        summary: 'Delete an identity provider; its pending requests fail',
        description: 'Requests that were decided before keep their result.',
        params: providerParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { site_id: siteId, provider_id: id } = request.params;
      // A provider never changes, so the row is current even if it was read before the deletion.
      const before = await findProvider(request.sql, siteId, id);
      if (before === null || !(await deleteProvider(request.sql, siteId, id)))
        throw notFound('visitor authentication provider', id);
      recordChange(request, { before });
      reply.code(204);
    },
  );
}

/** http sends the client secret unencrypted, so it is allowed only in networks that the settings allow. */
function refuseAddress(guard: AddressGuard, issuer: string): void {
  const url = new URL(issuer);
  const onlyAllowed = url.protocol === 'http:';
  const complaint = guard.complaint(url, { onlyAllowed });
  if (complaint === null) return;
  const detail = onlyAllowed ? `must be https; over http, ${complaint}` : complaint;
  throw invalid([{ attribute: '/issuer', detail }]);
}

async function addProvider(request: FastifyRequest, siteId: SiteId, sealer: Sealer): Promise<ProviderRow> {
  const { client_secret: secret, redirect_uris = [], ...given } = request.body as Type.Static<typeof providerInput>;
  const id = newId<ProviderId>();
  const sealed = secret === undefined ? null : (await sealer.seal())(secret, clientSecretPurpose(id));
  const ids = { id, account_id: accountOf(request), site_id: siteId };
  try {
    const row = await insertProvider(
      request.sql,
      { ...ids, ...given, client_secret: sealed, redirect_uris },
      maxProviders,
    );
    if (row === null)
      throw new Refusal('too_many', `A site can have at most ${maxProviders} identity providers. Delete one first.`);
    return row;
  } catch (error) {
    if (violatedConstraint(error) !== 'visitor_authentication_providers_name') throw error;
    throw new Refusal('provider_name_taken', `The site already has an identity provider named ${given.name}.`);
  }
}
