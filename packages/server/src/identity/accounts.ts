import type { Sql } from '../platform/database/database.ts';
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

/** Creates an account with one site and a super_manager who has an API key. */
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
      JOIN accounts ON accounts.id = a.account_id
     WHERE a.role = 'super_manager' AND (o.enabled AND accounts.disabled_at IS NULL OR ${who === 'any'})
     ORDER BY o.created_at, o.id
     LIMIT 1`;
  return first ?? null;
}

interface FirstAccount {
  /** Whether this start created it. */
  readonly made: boolean;
  /** The generated key, which is shown only once; `null` if none was generated. */
  readonly key: NewKey | null;
}

/**
 * Gives the first super_manager a key (D9.3): the one from the settings, which may change between starts. Without one, the
 * first start generates a key.
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

/** Stores the key from the settings. A changed secret ends the sessions that were opened with the old one. */
async function setChosenKey(sql: Sql, { accountId, operatorId }: FirstSuperManager, chosen: NewKey): Promise<void> {
  const current = await findKeyOwner(sql, chosen.id);
  if (current !== null) {
    if (await verifySecret(chosen.secret, current.secretHash)) return;
    await endSessionsOfKey(sql, chosen.id);
  }
  const secretHash = await hashSecret(chosen.secret);
  await sql`
    INSERT INTO api_keys (id, account_id, operator_id, secret_hash)
    VALUES (${chosen.id}, ${accountId}, ${operatorId}, ${secretHash})
    ON CONFLICT (id) DO UPDATE SET secret_hash = excluded.secret_hash`;
}
