import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import { resetExpiry } from '../board/structures/expiry.ts';
import type { Site } from '../board/structures/state.ts';

/** What the board reads of the table `sites`, which belongs to identity. */

/** `null` reads all sites. */
export async function readSites(sql: Sql, accountId: AccountId, ids: readonly string[] | null): Promise<Site[]> {
  const rows = await sql<
    {
      id: SiteId;
      reactive: number;
      proactive: number;
      missed: boolean;
      callsBesideChats: boolean;
      timeout: number;
      openPerAddress: number;
      needsPresence: boolean;
    }[]
  >`SELECT id, reactive_call_timeout AS reactive, proactive_call_timeout AS proactive,
           missed_call_unavailability_enabled AS missed, calls_beside_chats AS "callsBesideChats",
           queue_ticket_timeout_sec AS timeout,
           (visitor_limits ->> 'open_tickets_per_address')::integer AS "openPerAddress",
           ticket_needs_presence AS "needsPresence"
      FROM sites
     WHERE account_id = ${accountId} AND (${ids === null} OR id = ANY(${[...(ids ?? [])]}::uuid[]))`;
  return rows.map((row) => ({
    id: row.id,
    reactiveMs: row.reactive * 1000,
    proactiveMs: row.proactive * 1000,
    missedMakesUnavailable: row.missed,
    callsBesideChats: row.callsBesideChats,
    ticketTimeoutMs: row.timeout * 1000,
    openPerAddress: row.openPerAddress,
    ticketNeedsPresence: row.needsPresence,
  }));
}

export function putSite(board: Board, site: Site): void {
  board.sites.set(site.id, site);
  resetExpiry(board, site.id);
}
