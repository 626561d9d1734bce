import Type from 'typebox';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId, type ApplicationTokenId } from '../../platform/ids.ts';
import { body, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import { accountOf } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import { composeApplicationToken } from '../authenticate.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { deleteApplicationToken, insertApplicationToken, listApplicationTokens } from './store.ts';

const most = 100;
const tags = ['Tokens'];
const kind = oneOf(['secret', 'publishable'] as const);
const listed = { id: uuid<'application_token'>(), kind, created_at: timestamp };
const applicationToken = output('ApplicationToken', listed);
const created = output('NewApplicationToken', { ...listed, token: Type.String({ description: 'Shown this once' }) });
const siteParams = Type.Object({ site_id: uuid<'site'>() });
const tokenParams = Type.Object({ site_id: uuid<'site'>(), token_id: uuid<'application_token'>() });

export function applicationTokenRoutes(app: App): void {
  app.post(
    '/sites/:site_id/application_tokens',
    {
      config: {
        access: { operator: 'super_manager', site: 'params.site_id' },
        audit: { action: 'application_token.create', of: applicationToken },
      },
      schema: {
        tags,
        summary: 'Create an application token, with which visitors are created',
        description: 'A publishable token may stand in a web page; a secret one may also renew the tokens of visitors.',
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
      const row = await insertApplicationToken(
        request.sql,
        { id, accountId: accountOf(request), siteId, kind: request.body.kind, secretHash },
        most,
      );
      if (row === null)
        throw new Refusal('too_many', `A site has ${most} application tokens at most. Delete one first.`);
      recordChange(request, { concerns: { any: [siteId] } });
      reply.code(201).header('location', `/sites/${siteId}/application_tokens/${id}`);
      return { ...row, token: composeApplicationToken(row.kind, id, secret) };
    },
  );

  app.get(
    '/sites/:site_id/application_tokens',
    {
      config: { access: { operator: 'super_manager', site: 'params.site_id' } },
      schema: {
        tags,
        summary: 'Application tokens of a site, without their secrets',
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
        audit: { action: 'application_token.delete', of: applicationToken },
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
