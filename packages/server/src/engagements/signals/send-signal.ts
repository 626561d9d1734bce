import type { Sql } from '../../platform/database.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { takesPart } from '../taking-part.ts';

interface Sending {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly by: Party;
  readonly pieces: readonly string[];
}

/**
 * Passes a signal on to whoever is on the other side of the engagement now, over NOTIFY alone: it is written nowhere. One
 * statement asks and tells, and the caller is answered after its commit, so that signals which are sent one after the other
 * are heard in that order, whichever processes took them: this one also hears its own by notification. False where the
 * caller has no part in the engagement.
 */
export async function sendSignal(sql: Sql, { accountId, engagementId, by, pieces }: Sending): Promise<boolean> {
  const other = by.kind === 'visitor' ? sql`'operator ' || e.operator_id` : sql`'visitor ' || e.visitor_id`;
  // Transactions that notify commit one at a time; nobody need wait for the disk for what is not kept.
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
