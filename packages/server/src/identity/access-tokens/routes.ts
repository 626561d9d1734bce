import Type from 'typebox';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId } from '../../platform/ids.ts';
import { instantOf } from '../../platform/instant.ts';
import { inTransaction } from '../../platform/database.ts';
import { uuid } from '../../platform/schema.ts';
import { recordChange } from '../audit/audit.ts';
import { concerning } from '../operators/audited.ts';
import { operatorToChange } from '../operators/permission.ts';
import { digestOf, newRandomSecret } from '../secrets.ts';
import {
  accessTokenAudit,
  accessTokenInput,
  accessTokenOutput,
  composeAccessToken,
  mostAccessTokens,
  newAccessTokenOutput,
  type AccessTokenId,
} from './access-token.ts';
import { deleteAccessToken, insertAccessToken, listAccessTokens } from './store.ts';

const tags = ['Tokens'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const tokenParams = Type.Object({ operator_id: uuid<'operator'>(), access_token_id: uuid<'access_token'>() });
/** As for API keys: whoever has a token is the operator. */
const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;

/** Long-lived tokens, for programs that never obtain a new one. */
export function accessTokenRoutes(app: App): void {
  app.post(
    '/operators/:operator_id/access_tokens',
    {
      config: { access, audit: { action: 'access_token.create', ...accessTokenAudit } },
      schema: {
        tags,
        summary: 'Create a long-lived token, of oneself or of an operator one is super_manager of',
        description:
          'For programs that do not obtain a new token every hour. The token may do what the operator may, until it expires or is deleted; while the operator is disabled it does not work.',
        params: operatorParams,
        body: accessTokenInput,
        response: { 201: newAccessTokenOutput },
      },
    },
    async (request, reply) => {
      const expiresAt = futureInstant(request.body.expires_at ?? null);
      const holder = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = holder;
      const secret = newRandomSecret();
      const token = {
        id: newId<AccessTokenId>(),
        accountId,
        operatorId,
        name: request.body.name,
        digest: digestOf(secret),
        expiresAt,
      };
      const row = await inTransaction(request.sql, async (sql) => insertAccessToken(sql, token));
      if (row === null)
        throw new Refusal('too_many', `An operator has ${mostAccessTokens} access tokens at most. Delete one first.`);
      recordChange(request, { after: { ...row, operator_id: operatorId }, ...concerning(holder) });
      reply.code(201).header('location', `/operators/${operatorId}/access_tokens/${row.id}`);
      return { ...row, token: composeAccessToken(row.id, secret) };
    },
  );

  app.get(
    '/operators/:operator_id/access_tokens',
    {
      config: { access },
      schema: {
        tags,
        summary: 'Long-lived tokens of an operator, without their secrets; expired ones are left out',
        params: operatorParams,
        response: { 200: Type.Object({ access_tokens: Type.Array(accessTokenOutput) }) },
      },
    },
    async (request) => {
      const { id } = await operatorToChange(request, request.params.operator_id);
      return { access_tokens: await listAccessTokens(request.sql, id) };
    },
  );

  app.delete(
    '/operators/:operator_id/access_tokens/:access_token_id',
    {
      config: { access, settles: true, audit: { action: 'access_token.delete', ...accessTokenAudit } },
      schema: {
        tags,
        summary: 'Delete a long-lived token; it stops working at once',
        params: tokenParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, access_token_id: id } = request.params;
      const holder = await operatorToChange(request, operator_id);
      const before = await deleteAccessToken(request.sql, holder.id, id);
      if (before === null) throw notFound('access token', id);
      recordChange(request, { before: { ...before, operator_id }, ...concerning(holder) });
      reply.code(204);
    },
  );
}

function futureInstant(text: string | null): Date | null {
  if (text === null) return null;
  const at = instantOf(text, '/expires_at');
  if (at.getTime() <= Date.now()) throw invalid([{ attribute: '/expires_at', detail: 'must be in the future' }]);
  return at;
}
