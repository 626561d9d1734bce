import type { Sql } from '../../../platform/database/database.ts';
import { invalidCredentials } from '../check-key.ts';
import type { PasswordHasher } from './hasher.ts';
import { findPasswords, type PasswordOwner } from './store.ts';

/** An e-mail address may belong to operators of several accounts. At most this many are tried. */
const maxAccounts = 5;

/**
 * An unknown address, a wrong password, a missing password and a disabled operator get the same response after the same work.
 * If several accounts have an operator with the address, all are tried and the first match wins.
 */
export async function checkPassword(
  sql: Sql,
  hasher: PasswordHasher,
  given: { readonly email: string; readonly password: string },
): Promise<PasswordOwner> {
  const owners = await findPasswords(sql, given.email, maxAccounts);
  if (owners.length === 0) await hasher.matches(given.password, null);
  const matching: PasswordOwner[] = [];
  for (const owner of owners) if (await hasher.matches(given.password, owner.hash)) matching.push(owner);
  const [first] = matching;
  if (first !== undefined) return first;
  throw invalidCredentials('Incorrect email or password.');
}
