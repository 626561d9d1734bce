import type { Sql } from '../platform/database.ts';
import { newId, type AccountId, type OperatorId, type SiteId } from '../platform/ids.ts';
import { findKeyOwner, insertApiKey } from './api-keys/store.ts';
import { newOperator } from './operators/operator.ts';
import { insertOperator } from './operators/store.ts';
import { hashSecret, newSecret, verifySecret } from './secrets.ts';
import { endSessionsOfKey } from './sign-in/sessions/store.ts';
import { siteFields } from './sites/site.ts';
import { insertSite } from './sites/store.ts';

export interface NewKey {
  readonly id: string;
  readonly secret: string;
}

interface FirstOperator {
  readonly accountName: string;
  readonly email: string;
  readonly key: NewKey;
}

/** An account that somebody can enter: with a site, and a super_manager of it who has a key. */
export async function createAccount(sql: Sql, { accountName, email, key }: FirstOperator): Promise<{ siteId: SiteId }> {
  const accountId = newId<AccountId>();
  const operatorId = newId<OperatorId>();
  const siteId = newId<SiteId>();
  await sql`INSERT INTO accounts (id, name) VALUES (${accountId}, ${accountName})`;
  const administrator = newOperator({ name: 'Administrator', email, role: 'super_manager' });
  await insertOperator(sql, operatorId, accountId, administrator);
  await insertSite(sql, {
    id: siteId,
    accountId,
    settings: siteFields.complete({ name: 'First site' }, null),
    creator: operatorId,
  });
  await insertApiKey(sql, { id: key.id, accountId, operatorId, secretHash: await hashSecret(key.secret) }, 1);
  return { siteId };
}

export function newKey(): NewKey {
  return { id: newId<string>(), secret: newSecret('usk') };
}

interface FirstSuperManager {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

export async function findFirstSuperManager(sql: Sql, who: 'enabled' | 'any'): Promise<FirstSuperManager | null> {
  const [first] = await sql<FirstSuperManager[]>`
    SELECT a.account_id AS "accountId", a.operator_id AS "operatorId"
      FROM operator_assignments a
      JOIN operators o ON o.id = a.operator_id
     WHERE a.role = 'super_manager' AND (o.enabled OR ${who === 'any'})
     ORDER BY o.created_at, o.id
     LIMIT 1`;
  return first ?? null;
}

interface FirstAccount {
  /** Whether this start made it. */
  readonly made: boolean;
  /** The key that was made with it, to be shown this once. */
  readonly key: NewKey | null;
}

/**
 * The first super_manager's key (D9.3): the one the settings name, which may change from start to start, or at the very
 * first start one that is made.
 */
export async function ensureFirstAccount(sql: Sql, chosen: NewKey | null): Promise<FirstAccount> {
  const first = await findFirstSuperManager(sql, 'any');
  if (first === null) {
    const key = chosen ?? newKey();
    await createAccount(sql, { accountName: 'First account', email: 'administrator@localhost', key });
    return { made: true, key: chosen === null ? key : null };
  }
  if (chosen !== null) await setChosenKey(sql, first, chosen);
  return { made: false, key: null };
}

/** Another secret under the same id is another key: who signed in with the old one is signed out. */
async function setChosenKey(sql: Sql, { accountId, operatorId }: FirstSuperManager, chosen: NewKey): Promise<void> {
  const known = await findKeyOwner(sql, chosen.id);
  if (known !== null && !(await verifySecret(chosen.secret, known.secretHash))) await endSessionsOfKey(sql, chosen.id);
  const secretHash = await hashSecret(chosen.secret);
  await sql`
    INSERT INTO api_keys (id, account_id, operator_id, secret_hash)
    VALUES (${chosen.id}, ${accountId}, ${operatorId}, ${secretHash})
    ON CONFLICT (id) DO UPDATE SET secret_hash = excluded.secret_hash`;
}
