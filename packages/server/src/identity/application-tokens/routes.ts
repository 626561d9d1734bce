import Type from 'typebox';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type ApplicationTokenId } from '../../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import { accountOf } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import { composeApplicationToken } from '../authenticate.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { deleteApplicationToken, insertApplicationToken, listApplicationTokens } from './store.ts';

const maxTokens = 100;
const tags = ['Tokens'];
const kind = oneOf(['secret', 'publishable'] as const);
/** Without `token`: the response to a POST contains the secret, and the audit log must not. */
const audited = { properties: { id: uuid<'application_token'>(), kind, created_at: timestamp } };
const applicationToken = output('ApplicationToken', {
  ...audited.properties,
  token: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description:
      'The text of a publishable token. null for a secret token, and for old publishable tokens whose text was not stored',
  }),
});
const created = output('NewApplicationToken', {
  ...audited.properties,
  token: Type.String({ description: 'The text of a secret token is shown only once' }),
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
        summary: 'Create an application token, which is used to create visitors',
        description:
          'A publishable token is safe in client-side code: it can only create visitors, and can be listed at any time. A secret ' +
          'token can also renew the tokens of visitors; keep it on your servers.',
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
      const { kind: tokenKind } = request.body;
      const token = composeApplicationToken(tokenKind, id, secret);
      const row = await insertApplicationToken(
        request.sql,
        {
          id,
          accountId: accountOf(request),
          siteId,
          kind: tokenKind,
          secretHash,
          token: tokenKind === 'publishable' ? token : null,
        },
        maxTokens,
      );
      if (row === null)
        throw new Refusal('too_many', `A site can have at most ${maxTokens} application tokens. Delete one first.`);
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
        summary: 'List the application tokens of a site: publishable tokens with their text, secret tokens without',
        description:
          'A publishable token is meant for pages, so anybody may read it there. A secret token is shown only when it is created.',
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
        changesCaches: true,
        audit: { action: 'application_token.delete', of: audited },
      },
      schema: {
        tags,
        summary: 'Delete an application token; it stops working at once',
        description: 'Pages and programs that use it can create no more visitors.',
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
