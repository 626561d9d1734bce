import Type from 'typebox';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId } from '../../platform/ids.ts';
import { body, output, timestamp, uuid } from '../../platform/schema.ts';
import { recordChange } from '../audit/audit.ts';
import { credentialAudit, concernsSitesOf } from '../operators/audited.ts';
import { operatorToChange } from '../operators/permission.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { deleteApiKey, insertApiKey, listApiKeys } from './store.ts';

const maxApiKeys = 20;
const tags = ['Tokens'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const keyParams = Type.Object({ operator_id: uuid<'operator'>(), key_id: Type.String({ maxLength: 64 }) });
const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;
const fields = { id: Type.String(), created_at: timestamp };

/** Whoever has a key can act as the operator, so only a super_manager of all their sites may create one for somebody else. */
export function apiKeyRoutes(app: App): void {
  app.post(
    '/operators/:operator_id/api_keys',
    {
      config: {
        access,
        changesCaches: true,
        audit: { action: 'api_key.create', ...credentialAudit },
      },
      schema: {
        tags,
        summary: 'Create an API key for yourself or for an operator you are super_manager of',
        description:
          'The secret is shown only once and stored as a hash. Exchange the key for a token at POST /operator_authentication/tokens.',
        params: operatorParams,
        body: body({}),
        response: { 201: output('NewApiKey', { ...fields, secret: Type.String({ description: 'Shown only once' }) }) },
      },
    },
    async (request, reply) => {
      const operator = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = operator;
      const secret = newSecret('usk');
      const key = { id: newId<string>(), accountId, operatorId, secretHash: await hashSecret(secret) };
      const row = await insertApiKey(request.sql, key, maxApiKeys);
      if (row === null)
        throw new Refusal('too_many', `An operator can have at most ${maxApiKeys} API keys. Delete one first.`);
      recordChange(request, { after: { id: row.id, operator_id: operatorId }, ...concernsSitesOf(operator) });
      reply.code(201).header('location', `/operators/${operatorId}/api_keys/${row.id}`);
      return { ...row, secret };
    },
  );

  app.get(
    '/operators/:operator_id/api_keys',
    {
      config: { access },
      schema: {
        tags,
        summary: 'List the API keys of an operator, without their secrets',
        description:
          'A secret is shown only when its key is created. A lost secret cannot be recovered: delete the key and create another.',
        params: operatorParams,
        response: { 200: Type.Object({ api_keys: Type.Array(output('ApiKey', fields)) }) },
      },
    },
    async (request) => {
      const { id } = await operatorToChange(request, request.params.operator_id);
      return { api_keys: await listApiKeys(request.sql, id) };
    },
  );

  app.delete(
    '/operators/:operator_id/api_keys/:key_id',
    {
      config: {
        access,
        changesCaches: true,
        audit: { action: 'api_key.delete', ...credentialAudit },
      },
      schema: {
        tags,
        summary: 'Delete an API key; tokens obtained with it stop working at once',
        description: "The operator's other keys, access tokens and sessions keep working.",
        params: keyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, key_id } = request.params;
      const operator = await operatorToChange(request, operator_id);
      if (!(await deleteApiKey(request.sql, operator.id, key_id))) throw notFound('API key', key_id);
      recordChange(request, { before: { id: key_id, operator_id }, ...concernsSitesOf(operator) });
      reply.code(204);
    },
  );
}
