import type { FileDisk } from '../engagements/files/disk.ts';
import type { Piece, Sql } from '../platform/database.ts';
import type { EngagementId, FileId, VisitorId } from '../platform/ids.ts';
import type { DeletedSite } from './store.ts';

/** How much one statement deletes. */
const rowsAtOnce = 5_000;
const engagementsAtOnce = 500;
const visitorsAtOnce = 2_000;

/** Removes one piece of what is left of a site. True: there may be more of it. */
type Step = (sql: Sql, site: DeletedSite, disk: FileDisk) => Promise<boolean>;

/**
 * Removes what has happened on deleted sites, a piece at a time, until `isOver` says that it has taken long enough. Nobody can read
 * these rows any more, and each statement stands alone: the work may be cut off anywhere, and done by several processes at once.
 */
export async function removeRemains(sql: Sql, disk: FileDisk, isOver: () => boolean): Promise<void> {
  const sites = await sql<DeletedSite[]>`
    SELECT id, account_id AS "accountId" FROM deleted_sites ORDER BY deleted_at, id`;
  for (const site of sites) {
    for (const step of steps) {
      let isMore = true;
      while (isMore && !isOver()) isMore = await step(sql, site, disk);
    }
    if (isOver()) return;
    // A request that was under way while the site was deleted may have created a visitor. No request takes an hour.
    await sql`DELETE FROM deleted_sites WHERE id = ${site.id} AND deleted_at < now() - interval '1 hour'`;
  }
}

const steps: readonly Step[] = [
  removeEngagements,
  // Served by engagement_requests_by_site.
  removeFrom('engagement_requests', (sql, { id }) => sql`site_id = ${id}`),
  removeFrom('queue_tickets', (sql, { id, accountId }) => sql`account_id = ${accountId} AND site_id = ${id}`),
  // Served by queue_visits_by_queue. The queues themselves are forgotten only after their visits.
  removeFrom(
    'queue_visits',
    (sql, { id }) => sql`queue_id IN (SELECT q.id FROM deleted_queues q WHERE q.site_id = ${id})`,
  ),
  removeFrom('deleted_queues', (sql, { id }) => sql`site_id = ${id}`),
  removeFrom('sms_messages', (sql, { id }) => sql`site_id = ${id}`),
  removeFrom('sms_threads', (sql, { id }) => sql`site_id = ${id}`),
  removeFrom('visitor_authentication_requests', (sql, { id }) => sql`site_id = ${id}`),
  removeVisitors,
];

function removeFrom(table: string, isOf: (sql: Sql, site: DeletedSite) => Piece): Step {
  return async (sql, site) => {
    const { count } = await sql`
      DELETE FROM ${sql(table)}
       WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${sql(table)} WHERE ${isOf(sql, site)} LIMIT ${rowsAtOnce}))`;
    return count >= rowsAtOnce;
  };
}

/** Conversations whose last place was the site. The row of each goes last, so that whatever is cut off is found again. */
async function removeEngagements(sql: Sql, { id: siteId }: DeletedSite, disk: FileDisk): Promise<boolean> {
  const found = await sql<{ id: EngagementId }[]>`
    SELECT id FROM engagements WHERE site_id = ${siteId} ORDER BY started_at, id LIMIT ${engagementsAtOnce}`;
  const ids = found.map(({ id }) => id);
  const files = await sql<{ id: FileId }[]>`SELECT id FROM files WHERE engagement_id = ANY(${ids}::uuid[])`;
  for (const { id } of files) await disk.discard(id);
  await sql`DELETE FROM files WHERE engagement_id = ANY(${ids}::uuid[])`;
  await sql`DELETE FROM chat_messages WHERE engagement_id = ANY(${ids}::uuid[])`;
  await sql`DELETE FROM media_upgrade_requests WHERE engagement_id = ANY(${ids}::uuid[])`;
  await sql`DELETE FROM sub_engagements WHERE engagement_id = ANY(${ids}::uuid[])`;
  await sql`DELETE FROM engagements WHERE id = ANY(${ids}::uuid[])`;
  return ids.length >= engagementsAtOnce;
}

/** Visitors who also talked on another site go back there, to the last one; the others are deleted. */
async function removeVisitors(sql: Sql, { id: siteId }: DeletedSite): Promise<boolean> {
  const found = await sql<
    { id: VisitorId }[]
  >`SELECT id FROM visitors WHERE site_id = ${siteId} LIMIT ${visitorsAtOnce}`;
  const ids = found.map(({ id }) => id);
  await sql`
    UPDATE visitors v
       SET site_id = last.site_id, team_ids = '{}', version = version + 1, updated_at = now()
      FROM (SELECT DISTINCT ON (e.visitor_id) e.visitor_id, e.site_id
              FROM engagements e
              JOIN sites s ON s.id = e.site_id
             WHERE e.visitor_id = ANY(${ids}::uuid[])
             ORDER BY e.visitor_id, e.started_at DESC) AS last
     WHERE v.id = last.visitor_id AND v.site_id = ${siteId}`;
  await sql`DELETE FROM visitors WHERE id = ANY(${ids}::uuid[]) AND site_id = ${siteId}`;
  return ids.length >= visitorsAtOnce;
}
