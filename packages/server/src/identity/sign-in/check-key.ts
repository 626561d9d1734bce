import { Refusal } from '../../platform/errors.ts';
import type { Sql } from '../../platform/database.ts';
import { findKeyOwner, type KeyOwner } from '../api-keys/store.ts';
import { verifyAgainstNothing, verifySecret } from '../secrets.ts';

/** One answer for an unknown key, a wrong secret and a disabled operator, after the same work. */
export async function checkKey(sql: Sql, id: string, secret: string): Promise<KeyOwner> {
  const owner = await findKeyOwner(sql, id);
  const matches = owner === null ? await verifyAgainstNothing(secret) : await verifySecret(secret, owner.secretHash);
  if (owner !== null && matches && owner.enabled) return owner;
  throw invalidCredentials('The API key is unknown, its secret is wrong, or its operator is disabled.');
}

export function invalidCredentials(detail: string): Refusal {
  return new Refusal('invalid_credentials', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
