import type { Sql } from '../platform/database.ts';
import { newId, type AccountId, type OperatorId, type SiteId } from '../platform/ids.ts';
import { insertApiKey } from './api-keys/store.ts';
import { insertOperator } from './operators/store.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { siteDefaults } from './sites/site.ts';
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
  await insertOperator(sql, operatorId, accountId, {
    name: 'Administrator',
    email,
    role: 'super_manager',
    max_engagement_count: 1,
    enabled: true,
  });
  await insertSite(sql, {
    id: siteId,
    accountId,
    settings: { ...siteDefaults, name: 'First site' },
    creator: operatorId,
  });
  await insertApiKey(sql, { id: key.id, accountId, operatorId, secretHash: await hashSecret(key.secret) }, 1);
  return { siteId };
}

export function newKey(): NewKey {
  return { id: newId<string>(), secret: newSecret('usk') };
}

/**
 * The first super_manager's key (D9.3): the one the settings name, which may change from start to start, or at the very
 * first start one that is made. Answers the made one, to be shown this once.
 */
export async function ensureFirstAccount(sql: Sql, chosen: NewKey | null): Promise<NewKey | null> {
  const [first] = await sql<{ accountId: AccountId; operatorId: OperatorId }[]>`
    SELECT a.account_id AS "accountId", a.operator_id AS "operatorId"
      FROM operator_assignments a
      JOIN operators o ON o.id = a.operator_id
     WHERE a.role = 'super_manager'
     ORDER BY o.created_at, o.id
     LIMIT 1`;
  if (first === undefined) {
    const key = chosen ?? newKey();
    await createAccount(sql, { accountName: 'First account', email: 'administrator@localhost', key });
    return chosen === null ? key : null;
  }
  if (chosen !== null) {
    const secretHash = await hashSecret(chosen.secret);
    await sql`
      INSERT INTO api_keys (id, account_id, operator_id, secret_hash)
      VALUES (${chosen.id}, ${first.accountId}, ${first.operatorId}, ${secretHash})
      ON CONFLICT (id) DO UPDATE SET secret_hash = excluded.secret_hash`;
  }
  return null;
}
