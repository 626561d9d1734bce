import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Sealer } from '../../../identity/sealer.ts';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import { newId } from '../../../platform/ids.ts';
import { uuid } from '../../../platform/schema.ts';
import type { Authentications } from '../authentications.ts';
import { findProvider } from '../providers/store.ts';
import { proofOf, proofPurpose, requestInput, requestOutput, type AuthenticationRequestId } from './request.ts';
import { findRequest, insertRequest } from './store.ts';

const maxPerVisitor = 5;
const maxPerSite = 1_000;
const tags = ['Visitor authentication'];
const requestParams = Type.Object({ authentication_request_id: uuid<'authentication_request'>() });
const access = { visitor: true, site: 'none' } as const;

interface RouteDependencies {
  readonly sealer: Sealer;
  readonly authentications: Pick<Authentications, 'wake'>;
}

/** A visitor requests authentication; the result is an event. */
export function authenticationRequestRoutes(app: App, { sealer, authentications }: RouteDependencies): void {
  app.post(
    '/visitor_authentication/requests',
    {
      config: { access, audit: 'no operator' },
      schema: {
        tags,
        summary: 'Authenticate with an ID token, or with a code for one',
        description:
          'The proof is checked in the background; one event follows: `visitor.authentication.success` or `visitor.authentication.failure`.',
        body: requestInput,
        response: { 202: Type.Object({ id: uuid<'authentication_request'>() }) },
      },
      // After the response, the request is committed, also if an Idempotency-Key had opened the transaction.
      onResponse: (_request, reply, done) => {
        if (reply.statusCode === 202) authentications.wake();
        done();
      },
    },
    async (request, reply) => {
      const { accountId, siteId, visitorId, trust } = visitorOf(request);
      const proof = proofOf(request.body, trust);
      const provider = await findProvider(request.sql, siteId, request.body.provider_id);
      if (provider === null)
        throw invalid([{ attribute: '/provider_id', detail: "is not a provider of the visitor's site" }]);
      if (proof.kind === 'code' && !provider.redirect_uris.includes(proof.redirectUri))
        throw invalid([{ attribute: '/redirect_uri', detail: 'is not registered with the provider' }]);
      const id = newId<AuthenticationRequestId>();
      const sealed = (await sealer.seal())(JSON.stringify(proof), proofPurpose(id));
      const ids = { id, accountId, siteId, visitorId, providerId: provider.id };
      if (!(await insertRequest(request.sql, { ...ids, proof: sealed, maxPerVisitor, maxPerSite })))
        throw new Refusal('too_many', 'Too many authentication requests are pending. Try again when they are decided.');
      reply.code(202).header('location', `/visitor_authentication/requests/${id}`);
      return { id };
    },
  );

  app.get(
    '/visitor_authentication/requests/:authentication_request_id',
    {
      config: { access },
      schema: {
        tags,
        summary: "One of the visitor's own authentication requests",
        description:
          'Whether it is pending, has succeeded or has failed, and why. Programs can use the webhook events instead.',
        params: requestParams,
        response: { 200: requestOutput },
      },
    },
    async (request) => {
      const { authentication_request_id: id } = request.params;
      const found = await findRequest(request.sql, visitorOf(request).visitorId, id);
      if (found === null) throw notFound('authentication request', id);
      return found;
    },
  );
}

function visitorOf({ caller }: FastifyRequest) {
  if (caller.kind !== 'visitor') throw new Error('the route is for visitors');
  return caller;
}
