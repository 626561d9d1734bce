import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Sealer } from '../../../identity/sealer.ts';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http.ts';
import { newId } from '../../../platform/ids.ts';
import { uuid } from '../../../platform/schema.ts';
import type { Authentications } from '../authentications.ts';
import { findProvider } from '../providers/store.ts';
import { proofOf, proofPurpose, requestInput, requestOutput, type AuthenticationRequestId } from './request.ts';
import { findRequest, insertRequest } from './store.ts';

const mostOfVisitor = 5;
const mostOfSite = 1_000;
const tags = ['Visitor authentication'];
const requestParams = Type.Object({ authentication_request_id: uuid<'authentication_request'>() });
const access = { visitor: true, site: 'none' } as const;

interface Parts {
  readonly sealer: Sealer;
  readonly authentications: Pick<Authentications, 'look'>;
}

/** A visitor asks to be known; the answer is an event. */
export function authenticationRequestRoutes(app: App, { sealer, authentications }: Parts): void {
  app.post(
    '/visitor_authentication/requests',
    {
      config: { access, audit: 'no operator' },
      schema: {
        tags,
        summary: 'Authenticate by an ID token, or by a code for one',
        description:
          'What it is worth is found out in the background: `visitor.authentication.success` or `.failure` follows, once.',
        body: requestInput,
        response: { 202: Type.Object({ id: uuid<'authentication_request'>() }) },
      },
      // The request is committed by now, whichever transaction it was in.
      onResponse: (_request, reply, done) => {
        if (reply.statusCode === 202) authentications.look();
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
      if (!(await insertRequest(request.sql, { ...ids, proof: sealed, mostOfVisitor, mostOfSite })))
        throw new Refusal('too_many', 'Too many authentication requests are pending. Wait until some are decided.');
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
