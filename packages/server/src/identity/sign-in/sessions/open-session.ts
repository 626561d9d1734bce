import type { Sql } from '../../../platform/database.ts';
import { newId, type AccountId, type OperatorId } from '../../../platform/ids.ts';
import { holdApiKey } from '../../api-keys/store.ts';
import { digestOf, newRandomSecret } from '../../secrets.ts';
import { invalidCredentials } from '../check-key.ts';
import { rememberDevice } from '../devices/store.ts';
import { holdOperator } from '../hold-operator.ts';
import { isPassword } from '../passwords/store.ts';
import type { SessionCookie } from './cookie.ts';
import { insertSession, type SessionId, type UsedSession } from './store.ts';

/**
 * What somebody has shown to be let in. A link or an invitation is used up in the transaction that opens the session; a
 * password or key was checked before it, which took long, and must still be the same.
 */
type Proof =
  | { readonly by: 'password'; readonly hash: string }
  | { readonly by: 'api_key'; readonly keyId: string; readonly hash: string }
  | { readonly by: 'link' | 'invitation' };

export interface Entrant {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly proof: Proof;
  readonly userAgent: string | undefined;
  /** By which the browser says that somebody has signed in with it before; `null`: it says nothing. */
  readonly presented: string | null;
}

export interface OpenedSession extends UsedSession {
  readonly cookie: SessionCookie;
  /** What the browser is known by from now on. */
  readonly device: string;
}

const longestUserAgent = 200;

/** To be called in a transaction. */
export async function openSession(sql: Sql, entrant: Entrant): Promise<OpenedSession> {
  const { accountId, operatorId, proof, userAgent = '', presented } = entrant;
  if (!(await holdOperator(sql, operatorId)) || !(await stillHolds(sql, operatorId, proof)))
    throw invalidCredentials('What was shown has ceased to be valid this moment.');
  const id = newId<SessionId>();
  const secret = newRandomSecret();
  const expiresAt = await insertSession(sql, {
    id,
    accountId,
    operatorId,
    wayIn: proof.by,
    keyId: proof.by === 'api_key' ? proof.keyId : null,
    digest: digestOf(secret),
    userAgent: userAgent.slice(0, longestUserAgent),
  });
  const device = await rememberDevice(sql, { accountId, operatorId, presented });
  return { id, accountId, operatorId, expiresAt, cookie: { id, secret }, device };
}

async function stillHolds(sql: Sql, operatorId: OperatorId, proof: Proof): Promise<boolean> {
  switch (proof.by) {
    case 'password':
      return isPassword(sql, operatorId, proof.hash);
    case 'api_key':
      return holdApiKey(sql, proof.keyId, proof.hash);
    case 'link':
    case 'invitation':
      return true;
  }
}
