import Type from 'typebox';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId } from '../../platform/ids.ts';
import { instantOf } from '../../platform/instant.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { uuid } from '../../platform/schema.ts';
import { recordChange } from '../audit/audit.ts';
import { concernsSitesOf } from '../operators/audited.ts';
import { operatorToChange } from '../operators/permission.ts';
import { digestOf, newRandomSecret } from '../secrets.ts';
import {
  accessTokenAudit,
  accessTokenInput,
  accessTokenOutput,
  composeAccessToken,
  maxAccessTokens,
  newAccessTokenOutput,
  type AccessTokenId,
} from './access-token.ts';
import { deleteAccessToken, insertAccessToken, listAccessTokens } from './store.ts';

const tags = ['Tokens'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const tokenParams = Type.Object({ operator_id: uuid<'operator'>(), access_token_id: uuid<'access_token'>() });
/** The same as for API keys, because whoever has a token can act as the operator. */
const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;

/** Access tokens, for programs that do not renew their token. */
export function accessTokenRoutes(app: App): void {
  app.post(
    '/operators/:operator_id/access_tokens',
    {
      config: { access, audit: { action: 'access_token.create', ...accessTokenAudit } },
      schema: {
        tags,
        summary: 'Create a long-lived access token for yourself or for an operator you are super_manager of',
        description:
          'For programs that do not obtain a new token every hour. The token has the permissions of the operator until it expires or is deleted. It does not work while the operator is disabled.',
        params: operatorParams,
        body: accessTokenInput,
        response: { 201: newAccessTokenOutput },
      },
    },
    async (request, reply) => {
      const expiresAt = futureInstant(request.body.expires_at ?? null);
      const operator = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = operator;
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
        throw new Refusal(
          'too_many',
          `An operator can have at most ${maxAccessTokens} access tokens. Delete one first.`,
        );
      recordChange(request, { after: { ...row, operator_id: operatorId }, ...concernsSitesOf(operator) });
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
        summary: 'List the unexpired access tokens of an operator, without their secrets',
        description:
          'Each has the time of its last use, to the minute, so that unused tokens can be found and deleted.',
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
      config: { access, changesCaches: true, audit: { action: 'access_token.delete', ...accessTokenAudit } },
      schema: {
        tags,
        summary: 'Delete an access token; it stops working at once',
        description: "Programs that use it get 401 from then on. The operator's other tokens keep working.",
        params: tokenParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, access_token_id: id } = request.params;
      const operator = await operatorToChange(request, operator_id);
      const before = await deleteAccessToken(request.sql, operator.id, id);
      if (before === null) throw notFound('access token', id);
      recordChange(request, { before: { ...before, operator_id }, ...concernsSitesOf(operator) });
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
