import Type from 'typebox';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId, type ApplicationTokenId } from '../../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import { accountOf } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import { composeApplicationToken } from '../authenticate.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { deleteApplicationToken, insertApplicationToken, listApplicationTokens } from './store.ts';

const most = 100;
const tags = ['Tokens'];
const kind = oneOf(['secret', 'publishable'] as const);
/** Without the token: the answer to a POST has a secret one, too, and the audit log must not. */
const audited = { properties: { id: uuid<'application_token'>(), kind, created_at: timestamp } };
const applicationToken = output('ApplicationToken', {
  ...audited.properties,
  token: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description:
      'The text of a publishable token. null for a secret token, and for a publishable one from before texts were stored',
  }),
});
const created = output('NewApplicationToken', {
  ...audited.properties,
  token: Type.String({ description: 'The text of a secret token is shown this once' }),
});
const siteParams = Type.Object({ site_id: uuid<'site'>() });
const tokenParams = Type.Object({ site_id: uuid<'site'>(), token_id: uuid<'application_token'>() });

export function applicationTokenRoutes(app: App): void {
  app.post(
    '/sites/:site_id/application_tokens',
    {
      config: {
        access: { operator: 'super_manager', site: 'params.site_id' },
        audit: { action: 'application_token.create', of: audited },
      },
      schema: {
        tags,
        summary: 'Create an application token, with which visitors are created',
        description:
          'A publishable token is safe in client-side code: it only lets visitors in, and can be looked up at any time. A secret ' +
          'one may also renew the tokens of visitors; keep it on your servers.',
        params: siteParams,
        body: body({ kind }),
        response: { 201: created },
      },
    },
    async (request, reply) => {
      const { site_id: siteId } = request.params;
      const id = newId<ApplicationTokenId>();
      const secret = newSecret('u');
      const secretHash = await hashSecret(secret);
      const { kind: ofKind } = request.body;
      const token = composeApplicationToken(ofKind, id, secret);
      const row = await insertApplicationToken(
        request.sql,
        {
          id,
          accountId: accountOf(request),
          siteId,
          kind: ofKind,
          secretHash,
          token: ofKind === 'publishable' ? token : null,
        },
        most,
      );
      if (row === null)
        throw new Refusal('too_many', `A site has ${most} application tokens at most. Delete one first.`);
      recordChange(request, { concerns: { any: [siteId] } });
      reply.code(201).header('location', `/sites/${siteId}/application_tokens/${id}`);
      return { ...row, token };
    },
  );

  app.get(
    '/sites/:site_id/application_tokens',
    {
      config: { access: { operator: 'super_manager', site: 'params.site_id' } },
      schema: {
        tags,
        summary: 'Application tokens of a site: publishable ones with their text, secret ones without',
        params: siteParams,
        response: { 200: Type.Object({ application_tokens: Type.Array(applicationToken) }) },
      },
    },
    async (request) => ({ application_tokens: await listApplicationTokens(request.sql, request.params.site_id) }),
  );

  app.delete(
    '/sites/:site_id/application_tokens/:token_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'params.site_id' },
        settles: true,
        audit: { action: 'application_token.delete', of: audited },
      },
      schema: {
        tags,
        summary: 'Delete an application token; it stops working at once',
        params: tokenParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { site_id, token_id } = request.params;
      const before = await deleteApplicationToken(request.sql, site_id, token_id);
      if (before === null) throw notFound('application token', token_id);
      recordChange(request, { before, concerns: { any: [site_id] } });
      reply.code(204);
    },
  );
}
