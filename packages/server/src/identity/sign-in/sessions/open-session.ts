import type { Sql } from '../../../platform/database/database.ts';
import { newId, type AccountId, type OperatorId } from '../../../platform/ids.ts';
import { lockApiKey } from '../../api-keys/store.ts';
import { digestOf, newRandomSecret } from '../../secrets.ts';
import { invalidCredentials } from '../check-key.ts';
import { rememberDevice } from '../devices/store.ts';
import { lockSignIn } from '../lock-sign-in.ts';
import { isCurrentPassword } from '../passwords/store.ts';
import type { SessionCookie } from './cookie.ts';
import { insertSession, type SessionId, type UsedSession } from './store.ts';

/**
 * What the operator signed in with. A link or an invitation is redeemed in the transaction that opens the session. A password or
 * API key was checked before the transaction, because the check is slow, so the transaction verifies that it has not changed.
 */
type Proof =
  | { readonly by: 'password'; readonly hash: string }
  | { readonly by: 'api_key'; readonly keyId: string; readonly hash: string }
  | { readonly by: 'link' | 'invitation' };

export interface VerifiedSignIn {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly proof: Proof;
  readonly userAgent: string | undefined;
  /** The device cookie of the browser; `null` if it sent none. */
  readonly deviceSecret: string | null;
}

export interface OpenedSession extends UsedSession {
  readonly cookie: SessionCookie;
  /** The new value of the device cookie. */
  readonly newDeviceSecret: string;
}

const maxUserAgentLength = 200;

/** Call it in a transaction. */
export async function openSession(sql: Sql, verified: VerifiedSignIn): Promise<OpenedSession> {
  const { accountId, operatorId, proof, userAgent = '', deviceSecret } = verified;
  if (!(await lockSignIn(sql, operatorId)) || !(await isStillValid(sql, operatorId, proof)))
    throw invalidCredentials('Your credentials have just been changed or revoked. Sign in again.');
  const id = newId<SessionId>();
  const secret = newRandomSecret();
  const expiresAt = await insertSession(sql, {
    id,
    accountId,
    operatorId,
    method: proof.by,
    keyId: proof.by === 'api_key' ? proof.keyId : null,
    digest: digestOf(secret),
    userAgent: userAgent.slice(0, maxUserAgentLength),
  });
  const newDeviceSecret = await rememberDevice(sql, { accountId, operatorId, deviceSecret });
  return { id, accountId, operatorId, expiresAt, cookie: { id, secret }, newDeviceSecret };
}

async function isStillValid(sql: Sql, operatorId: OperatorId, proof: Proof): Promise<boolean> {
  switch (proof.by) {
    case 'password':
      return isCurrentPassword(sql, operatorId, proof.hash);
    case 'api_key':
      return lockApiKey(sql, proof.keyId, proof.hash);
    case 'link':
    case 'invitation':
      return true;
  }
}
