import { keyTables, leafTables, tablesOfDeliveries, tablesOfEngagements } from '../account-deletion/own-tables.ts';
import { ownersOf, type Owner } from '../account-deletion/store.ts';
import type { AccountId } from '../platform/ids.ts';

/** Tables that belong to the installation. The public halves of signing keys, and the sealing keys, travel in the header. */
export const clusterTables: ReadonlySet<string> = new Set([
  'address_hash_key',
  'apns_tokens',
  'clock',
  'log_epochs',
  'migrations',
  'sealing_keys',
  'signing_keys',
]);

/** The condition for the rows of an account in a table, as text: found by the same indexes as when the account is deleted. */
export function ownRows(table: string, accountId: AccountId): string {
  const of = (owner: Owner): string => `${owner}_id = ANY(ARRAY(${ownersOf(owner, accountId)}))`;
  if (table === 'accounts') return `id = '${accountId}'`;
  if (table === 'engagements') return of('site');
  if (isIn(tablesOfEngagements, table)) return `engagement_id IN (SELECT id FROM engagements WHERE ${of('site')})`;
  if (isIn(tablesOfDeliveries, table)) return of('destination');
  const parts = [...leafTables, ...keyTables].filter((each) => each.table === table);
  if (parts.length === 0) throw new Error(`it is not known which rows of ${table} belong to an account`);
  return parts.map(({ of: owner, and = '' }) => `(${of(owner)} ${and})`).join(' OR ');
}

function isIn(tables: readonly string[], table: string): boolean {
  return tables.includes(table);
}
