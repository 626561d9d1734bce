import type { AuthenticationFailure } from '../../events/authentication-failures.ts';
import type { EventSecret } from '../../events/event-secrets.ts';
import { appendEvent } from '../../events/append.ts';
import { lockAccount } from '../../identity/lock-account.ts';
import type { Seal } from '../../identity/sealer.ts';
import { lockVisitor, updateVisitor } from '../../identity/visitors/store.ts';
import type { VisitorRow, VisitorSettings } from '../../identity/visitors/visitor.ts';
import { inTransaction, type Sql } from '../../platform/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { VisitorIdentity } from './id-token.ts';
import { keepProvider } from './providers/store.ts';
import type { TakenRequest } from './requests/request.ts';
import { finishRequest, lockEngagementsOf, useToken } from './requests/store.ts';

/** The tokens in the event are shown for as long as the visitor's is valid. */
const secretsLastSec = 24 * 3_600;
const longestExternalId = 255;

/** Says something to the operator of an engagement whose row the transaction holds. */
export type TellEngagement = (
  sql: Sql,
  told: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly content: string },
) => Promise<void>;

export interface Proven {
  readonly identity: VisitorIdentity;
  readonly idToken: string;
  /** The visitor's new token. */
  readonly accessToken: string;
  readonly seal: Seal;
}

/**
 * The visitor is who it says: that is written to the visitor, to the log and into its engagements, or nothing is. `false`
 * if the request was decided already.
 */
export async function concludeSuccess(
  pool: Sql,
  request: TakenRequest,
  { proven, tell }: { proven: Proven; tell: TellEngagement },
): Promise<boolean> {
  const { accountId, visitorId, siteId } = request;
  const { identity } = proven;
  return inTransaction(pool, async (sql) => {
    // Before the engagements and the visitor, which turns write too.
    await lockAccount(sql, accountId);
    const engagements = await lockEngagementsOf(sql, accountId, visitorId);
    const visitor = await lockVisitor(sql, accountId, visitorId);
    if (visitor === null) return fail(sql, request, 'error');
    // It may have been deleted since it was asked; from here on it cannot be.
    if (!(await keepProvider(sql, request.providerId))) return fail(sql, request, 'provider_deleted');
    if (!(await useToken(sql, accountId, identity.tokenHash))) return fail(sql, request, 'token_replayed');
    // Rolled back is what another has done before: its use of the token above all.
    if (!(await finishRequest(sql, request.id, null))) throw new AlreadyDecided();
    const changes = changesOf(visitor, identity);
    if (Object.keys(changes).length > 0) await updateVisitor(sql, visitorId, changes);
    await appendEvent(sql, {
      accountId,
      type: 'visitor.authentication.success',
      about: { siteId, visitorId },
      fields: { authentication_response: responseOf(request, identity) },
      secret: secretOf(proven),
    });
    const content = `The visitor has authenticated as ${identity.name ?? identity.email ?? identity.subject}.`;
    for (const engagementId of engagements) await tell(sql, { accountId, engagementId, content });
    return true;
  }).catch((error: unknown) => {
    if (error instanceof AlreadyDecided) return false;
    throw error;
  });
}

class AlreadyDecided extends Error {}

export async function concludeFailure(
  pool: Sql,
  request: TakenRequest,
  reason: AuthenticationFailure,
): Promise<boolean> {
  return inTransaction(pool, async (sql) => fail(sql, request, reason));
}

async function fail(sql: Sql, request: TakenRequest, reason: AuthenticationFailure): Promise<boolean> {
  const { id, accountId, siteId, visitorId } = request;
  if (!(await finishRequest(sql, id, reason))) return false;
  await appendEvent(sql, {
    accountId,
    type: 'visitor.authentication.failure',
    about: { siteId, visitorId },
    fields: { authentication_response: { fail_reason: reason, authentication_request_id: id } },
  });
  return true;
}

/**
 * The name and a believable e-mail address, where the token has them. An `external_id` that somebody gave the visitor stays;
 * one that an earlier authentication by the issuer gave is that of whoever it was then.
 */
function changesOf(visitor: VisitorRow, identity: VisitorIdentity): Partial<VisitorSettings> {
  const { issuer, subject, name, email, emailIsDoubtful } = identity;
  const externalId = `${issuer}|${subject}`;
  const isOurs = visitor.external_id === null || visitor.external_id.startsWith(`${issuer}|`);
  return {
    ...(name === null ? {} : { name }),
    ...(email === null || emailIsDoubtful ? {} : { email }),
    ...(isOurs && externalId.length <= longestExternalId ? { external_id: externalId } : {}),
  };
}

function responseOf({ id, visitorId }: TakenRequest, { name, preferredName, email, issuer, subject }: VisitorIdentity) {
  return {
    authentication_request_id: id,
    visitor_id: visitorId,
    access_token: '',
    name,
    preferred_name: preferredName,
    email,
    id_token: null,
    issuer,
    subject,
  };
}

function secretOf({ accessToken, idToken, seal }: Proven): EventSecret {
  const fields = { authentication_response: { access_token: accessToken, id_token: idToken } };
  return { fields, seal, lastsSec: secretsLastSec };
}
