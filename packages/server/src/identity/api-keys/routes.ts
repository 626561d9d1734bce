import Type from 'typebox';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId } from '../../platform/ids.ts';
import { body, output, timestamp, uuid } from '../../platform/schema.ts';
import { recordChange } from '../audit/audit.ts';
import { belongings, concerning } from '../operators/audited.ts';
import { operatorToChange } from '../operators/permission.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import { deleteApiKey, insertApiKey, listApiKeys } from './store.ts';

const most = 20;
const tags = ['Tokens'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const keyParams = Type.Object({ operator_id: uuid<'operator'>(), key_id: Type.String({ maxLength: 64 }) });
const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;
const listed = { id: Type.String(), created_at: timestamp };

/** Oneself, or a super_manager of every site of the operator: whoever has a key is the operator. */
export function apiKeyRoutes(app: App): void {
  app.post(
    '/operators/:operator_id/api_keys',
    {
      config: {
        access,
        settles: true,
        audit: { action: 'api_key.create', ...belongings },
      },
      schema: {
        tags,
        summary: 'Create an API key, of oneself or of an operator one is super_manager of',
        params: operatorParams,
        body: body({}),
        response: { 201: output('NewApiKey', { ...listed, secret: Type.String({ description: 'Shown this once' }) }) },
      },
    },
    async (request, reply) => {
      const holder = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = holder;
      const secret = newSecret('usk');
      const key = { id: newId<string>(), accountId, operatorId, secretHash: await hashSecret(secret) };
      const row = await insertApiKey(request.sql, key, most);
      if (row === null) throw new Refusal('too_many', `An operator has ${most} API keys at most. Delete one first.`);
      recordChange(request, { after: { id: row.id, operator_id: operatorId }, ...concerning(holder) });
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
        summary: 'API keys of an operator, without their secrets',
        params: operatorParams,
        response: { 200: Type.Object({ api_keys: Type.Array(output('ApiKey', listed)) }) },
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
        settles: true,
        audit: { action: 'api_key.delete', ...belongings },
      },
      schema: {
        tags,
        summary: 'Delete an API key; tokens obtained with it end at once',
        params: keyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, key_id } = request.params;
      const holder = await operatorToChange(request, operator_id);
      if (!(await deleteApiKey(request.sql, holder.id, key_id))) throw notFound('API key', key_id);
      recordChange(request, { before: { id: key_id, operator_id }, ...concerning(holder) });
      reply.code(204);
    },
  );
}
