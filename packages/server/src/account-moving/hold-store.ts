import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';

/** From now on no process begins to send anything for the account. `false`: it is being moved already. */
export async function markMoving(sql: Sql, id: AccountId): Promise<boolean> {
  const { count } = await sql`UPDATE accounts SET moving_at = clock_timestamp() WHERE id = ${id} AND moving_at IS NULL`;
  return count === 1;
}

/** The account stays here after all. */
export async function unmarkMoving(sql: Sql, id: AccountId): Promise<void> {
  await sql`UPDATE accounts SET moving_at = NULL WHERE id = ${id} AND moving_at IS NOT NULL`;
}

/** What processes have begun and not finished for an account: its outcome must be known before the account is copied. */
export interface InFlight {
  /** Addresses of webhooks to which a process may be sending. The lease of a process that died ends by itself. */
  readonly destinations: number;
  readonly sms: number;
  /** Visitors whose identity is being checked: a code of an identity provider can be used only once. */
  readonly authentications: number;
}

export async function findInFlight(sql: Sql, id: AccountId): Promise<InFlight> {
  const [row] = await sql<InFlight[]>`
    SELECT (SELECT count(*)::integer FROM destinations WHERE account_id = ${id} AND leased_until > clock_timestamp()) AS destinations,
           (SELECT count(*)::integer FROM sms_messages
             WHERE account_id = ${id} AND state = 'sending' AND due_at > clock_timestamp()) AS sms,
           (SELECT count(*)::integer FROM visitor_authentication_requests
             WHERE account_id = ${id} AND state = 'pending' AND attempts > 0 AND taken_until > clock_timestamp()) AS authentications`;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}
