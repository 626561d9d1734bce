import type { SqlFragment, Sql } from '../platform/database/database.ts';
import type { OperatorId } from '../platform/ids.ts';
import { maxLastingRequestAge } from '../routing/storage/request.ts';
import { deleteConfiguration, forgetCoverage, type DeletedSite } from './belongings.ts';
import { maxCount, type Counts } from './contents.ts';

async function countsOf(sql: Sql, counted: readonly (readonly [string, SqlFragment])[]): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const [name, rows] of counted) {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM (${rows} LIMIT ${maxCount + 1}) AS counted`;
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

/** Counts the history of the site. This may take a second on a large site, so call it without the account's lock. */
export async function countHistory(sql: Sql, { id }: DeletedSite): Promise<Counts> {
  return countsOf(sql, [
    ['visitors', sql`SELECT 1 FROM visitors WHERE site_id = ${id}`],
    ['engagements', sql`SELECT 1 FROM engagements WHERE site_id = ${id}`],
  ]);
}

/** Counts the configuration of the site, and references to the site from elsewhere. The caller's own role does not count. */
export async function countConfiguration(
  sql: Sql,
  { id, accountId }: DeletedSite,
  caller: OperatorId,
): Promise<Counts> {
  const queues = sql`(SELECT q.id FROM queues q WHERE q.site_id = ${id})`;
  return countsOf(sql, [
    ['operators', sql`SELECT 1 FROM operator_assignments WHERE site_id = ${id} AND operator_id <> ${caller}`],
    ['teams', sql`SELECT 1 FROM teams WHERE site_id = ${id}`],
    ['queues', sql`SELECT 1 FROM queues WHERE site_id = ${id}`],
    ['fallbacks', sql`SELECT 1 FROM queues WHERE site_id <> ${id} AND fallback_queue_id IN ${queues}`],
    ['scheduling_policies', sql`SELECT 1 FROM scheduling_policies WHERE site_id = ${id}`],
    ['phone_channels', sql`SELECT 1 FROM phone_channels WHERE site_id = ${id}`],
    ['digital_channels', sql`SELECT 1 FROM digital_channels WHERE site_id = ${id}`],
    ['application_tokens', sql`SELECT 1 FROM application_tokens WHERE site_id = ${id}`],
    ['identity_providers', sql`SELECT 1 FROM visitor_authentication_providers WHERE site_id = ${id}`],
    ['sip_domains', sql`SELECT 1 FROM sip_domains WHERE site_id = ${id}`],
    [
      'webhooks',
      sql`SELECT 1 FROM webhooks WHERE account_id = ${accountId} AND deleted_at IS NULL AND ${id} = ANY(site_ids)`,
    ],
  ]);
}

/** Counts what is active on the site now. Offers are counted as their tickets. */
export async function countActive(sql: Sql, { id, accountId }: DeletedSite): Promise<Counts> {
  return countsOf(sql, [
    [
      'waiting_visitors',
      sql`SELECT 1
            FROM queue_tickets t
            JOIN visitors v ON v.id = t.visitor_id
           WHERE t.account_id = ${accountId} AND t.ended_at IS NULL AND ${id} IN (t.site_id, v.site_id)`,
    ],
    [
      'pending_requests',
      sql`SELECT 1 FROM engagement_requests
           WHERE site_id = ${id} AND kind <> 'ticket' AND state = 'pending'
             AND created_at > now() - ${maxLastingRequestAge}::interval`,
    ],
    [
      'active_engagements',
      sql`SELECT 1
            FROM active_engagements a
            JOIN engagements e ON e.id = a.engagement_id
            JOIN visitors v ON v.id = e.visitor_id
           WHERE a.account_id = ${accountId} AND ${id} IN (e.site_id, e.asked_on_site_id, v.site_id)`,
    ],
  ]);
}

export async function isSampleSite(sql: Sql, { id, accountId }: DeletedSite): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM sample_data WHERE account_id = ${accountId} AND site_id = ${id}`;
  return row !== undefined;
}

/** Whether the account has another permanent site. The sample site does not count, because it may be removed at any time. */
export async function hasOtherSite(sql: Sql, { id, accountId }: DeletedSite): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM sites
     WHERE account_id = ${accountId} AND id <> ${id}
       AND id NOT IN (SELECT site_id FROM sample_data WHERE account_id = ${accountId})
     LIMIT 1`;
  return row !== undefined;
}

/**
 * Deletes the site and its configuration. Webhooks lose the site but stay enabled, so that pending deliveries are still sent.
 */
export async function deleteSiteRows(sql: Sql, site: DeletedSite): Promise<void> {
  const { id, accountId } = site;
  await deleteConfiguration(sql, site);
  // updated_at does not change: otherwise deliveries of a site that the webhook lost would be discarded (dispatcher/unsent-outcomes.ts).
  await sql`
    UPDATE webhooks SET site_ids = array_remove(site_ids, ${id}), version = version + 1
     WHERE account_id = ${accountId} AND ${id} = ANY(site_ids)`;
  await forgetCoverage(sql, site);
  await sql`INSERT INTO deleted_sites (id, account_id) VALUES (${id}, ${accountId})`;
  await sql`DELETE FROM sites WHERE id = ${id} AND account_id = ${accountId}`;
}
