import type { Sql } from '../../platform/database/database.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import type { Party } from '../../identity/party.ts';
import { takesPart } from '../taking-part.ts';

interface OutgoingSignal {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly by: Party;
  readonly pieces: readonly string[];
}

/**
 * Passes a signal to the current other side of the engagement, by NOTIFY only; nothing is stored. One statement checks and notifies,
 * and the caller is answered after its commit. So signals sent one after the other arrive in that order, whichever processes took
 * them: this process receives its own signals by notification too. `false`: the caller does not take part in the engagement.
 */
export async function sendSignal(sql: Sql, { accountId, engagementId, by, pieces }: OutgoingSignal): Promise<boolean> {
  const other = by.kind === 'visitor' ? sql`'operator ' || e.operator_id` : sql`'visitor ' || e.visitor_id`;
  // Transactions that notify commit one at a time. Nothing is stored, so the commit need not wait for the disk.
  const notified = await sql`
    SELECT set_config('synchronous_commit', 'off', true),
           pg_notify('usher_changes', concat('signal:', ${newId()}::text, ' ', p.place - 1, ' ', ${pieces.length}::int, ' ',
                                             e.account_id, ' ', ${other}, ' ', e.site_id, ' ', p.piece))
      FROM engagements e
     CROSS JOIN unnest(${[...pieces]}::text[]) WITH ORDINALITY AS p (piece, place)
     WHERE e.id = ${engagementId} AND e.account_id = ${accountId} AND ${takesPart(sql, by)}
     ORDER BY p.place`;
  return notified.length > 0;
}
