import { Refusal } from '../../platform/errors.ts';
import type { Sql } from '../../platform/database/database.ts';
import { findKeyOwner, type KeyOwner } from '../api-keys/store.ts';
import { verifyAgainstRandomHash, verifySecret } from '../secrets.ts';

/** An unknown key, a wrong secret and a disabled operator get the same response after the same work. */
export async function checkKey(sql: Sql, id: string, secret: string): Promise<KeyOwner> {
  const owner = await findKeyOwner(sql, id);
  const matches = owner === null ? await verifyAgainstRandomHash(secret) : await verifySecret(secret, owner.secretHash);
  if (owner !== null && matches && owner.enabled) return owner;
  throw invalidCredentials('Incorrect API key or secret.');
}

export function invalidCredentials(detail: string): Refusal {
  return new Refusal('invalid_credentials', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
