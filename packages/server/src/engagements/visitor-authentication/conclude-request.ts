import type { AuthenticationFailure } from '../../events/authentication-failures.ts';
import type { EventSecret } from '../../events/event-secrets.ts';
import { appendEvent } from '../../events/append.ts';
import { lockAccount } from '../../identity/lock-account.ts';
import type { Seal } from '../../identity/sealer.ts';
import { lockVisitor, updateVisitor } from '../../identity/visitors/store.ts';
import type { VisitorRow, VisitorSettings } from '../../identity/visitors/visitor.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { VisitorIdentity } from './id-token.ts';
import { lockProvider } from './providers/store.ts';
import type { ClaimedRequest } from './requests/request.ts';
import { finishRequest, lockEngagementsOf, useToken } from './requests/store.ts';

/** The tokens in the event can be read for as long as the visitor's token is valid. */
const secretsLastSec = 24 * 3_600;
const maxExternalIdLength = 255;

/** Sends a message to the operator of an engagement. The transaction holds the engagement's lock. */
export type NotifyOperator = (
  sql: Sql,
  message: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly content: string },
) => Promise<void>;

export interface Proven {
  readonly identity: VisitorIdentity;
  readonly idToken: string;
  /** The visitor's new token. */
  readonly accessToken: string;
  readonly seal: Seal;
}

/**
 * Records a success in one transaction: on the visitor, in the event log and in the visitor's engagements. `false`: the request was
 * decided already.
 */
export async function concludeSuccess(
  pool: Sql,
  request: ClaimedRequest,
  { proven, notifyOperator }: { proven: Proven; notifyOperator: NotifyOperator },
): Promise<boolean> {
  const { accountId, visitorId, siteId } = request;
  const { identity } = proven;
  return inTransaction(pool, async (sql) => {
    // Locked before the engagements and the visitor, in the same order as by turns.
    await lockAccount(sql, accountId);
    const engagements = await lockEngagementsOf(sql, accountId, visitorId);
    const visitor = await lockVisitor(sql, accountId, visitorId);
    if (visitor === null) return fail(sql, request, 'error');
    // The provider may have been deleted meanwhile. This lock prevents it until the commit.
    if (!(await lockProvider(sql, request.providerId))) return fail(sql, request, 'provider_deleted');
    if (!(await useToken(sql, accountId, identity.tokenHash))) return fail(sql, request, 'token_replayed');
    // Another process decided the request: roll back everything, above all the use of the token.
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
    const content = `The visitor authenticated as ${identity.name ?? identity.email ?? identity.subject}.`;
    for (const engagementId of engagements) await notifyOperator(sql, { accountId, engagementId, content });
    return true;
  }).catch((error: unknown) => {
    if (error instanceof AlreadyDecided) return false;
    throw error;
  });
}

class AlreadyDecided extends Error {}

export async function concludeFailure(
  pool: Sql,
  request: ClaimedRequest,
  reason: AuthenticationFailure,
): Promise<boolean> {
  return inTransaction(pool, async (sql) => fail(sql, request, reason));
}

async function fail(sql: Sql, request: ClaimedRequest, reason: AuthenticationFailure): Promise<boolean> {
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
 * Takes the name and the e-mail address from the token, unless the provider marks the address as unverified. An `external_id` that was
 * set by API stays; one from an earlier authentication by the same issuer is replaced, because it may name another person.
 */
function changesOf(visitor: VisitorRow, identity: VisitorIdentity): Partial<VisitorSettings> {
  const { issuer, subject, name, email, isEmailUnverified } = identity;
  const externalId = `${issuer}|${subject}`;
  const isOurs = visitor.external_id === null || visitor.external_id.startsWith(`${issuer}|`);
  return {
    ...(name === null ? {} : { name }),
    ...(email === null || isEmailUnverified ? {} : { email }),
    ...(isOurs && externalId.length <= maxExternalIdLength ? { external_id: externalId } : {}),
  };
}

function responseOf(
  { id, visitorId }: ClaimedRequest,
  { name, preferredName, email, issuer, subject }: VisitorIdentity,
) {
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
