import type { Sql } from '../../../platform/database.ts';
import { invalidCredentials } from '../check-key.ts';
import type { PasswordHasher } from './hasher.ts';
import { passwordsOf, type PasswordOwner } from './store.ts';

/** An address may be an operator's of several accounts; of so many it is tried. */
const mostAccounts = 5;

/**
 * One answer for an unknown address, a wrong password, no password and a disabled operator, after the same work. Where
 * several accounts have an operator of the address, all of them are tried and the first whose password it is counts.
 */
export async function checkPassword(
  sql: Sql,
  hasher: PasswordHasher,
  given: { readonly email: string; readonly password: string },
): Promise<PasswordOwner> {
  const owners = await passwordsOf(sql, given.email, mostAccounts);
  if (owners.length === 0) await hasher.matches(given.password, null);
  const matching: PasswordOwner[] = [];
  for (const owner of owners) if (await hasher.matches(given.password, owner.hash)) matching.push(owner);
  const [first] = matching;
  if (first !== undefined) return first;
  throw invalidCredentials('The e-mail address is unknown, the password is wrong, or the operator is disabled.');
}
