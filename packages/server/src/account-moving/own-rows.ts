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

/** The column with the account's id. */
export function accountColumn(table: string): string {
  return table === 'accounts' ? 'id' : 'account_id';
}

/** Tables whose old rows do not change, and which have nearly all rows of an account. What they say of an instant is the time of a row. */
const histories: Readonly<Record<string, { readonly at: string; readonly of?: 'engagement' }>> = {
  audit_log: { at: 'at' },
  // An ended conversation gets no messages, and none of its messages changes.
  chat_messages: { at: 'ended_at', of: 'engagement' },
  delivery_log: { at: 'at' },
  events: { at: 'occurred_at' },
};

export interface HistoryPart {
  readonly part: 'history' | 'rest';
  /** In epoch milliseconds. */
  readonly boundary: number;
}

/** The condition for the rows of a part of an account; `null`: the part has none of this table. The two parts are the whole account. */
export function partOfRows(table: string, accountId: AccountId, { part, boundary }: HistoryPart): string | null {
  const own = ownRows(table, accountId);
  const history = histories[table];
  if (history === undefined) return part === 'rest' ? own : null;
  const isOld = `coalesce(${history.at} < to_timestamp(${Math.floor(boundary)} / 1000.0), false)`;
  const isIncluded = part === 'history' ? isOld : `NOT ${isOld}`;
  if (history.of === undefined) return `(${own}) AND ${isIncluded}`;
  return `engagement_id IN (SELECT id FROM engagements WHERE (${ownRows('engagements', accountId)}) AND ${isIncluded})`;
}

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
