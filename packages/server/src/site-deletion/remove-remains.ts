import type { FileStore } from '../engagements/files/file-store.ts';
import type { Sql } from '../platform/database.ts';
import type { EngagementId, VisitorId } from '../platform/ids.ts';
import { deleteEngagements, deleteHistory, type DeletedSite, type GoesOn } from './belongings.ts';

/** How many are removed at once. */
const engagementsAtOnce = 500;
const visitorsAtOnce = 2_000;

/**
 * Removes what has happened on deleted sites, a piece at a time, until `isOver` says that it has taken long enough. Nobody can read
 * these rows any more, and each statement stands alone: the work may be cut off anywhere, and done by several processes at once.
 */
export async function removeRemains(sql: Sql, disk: FileStore, isOver: () => boolean): Promise<void> {
  const goesOn: GoesOn = () => !isOver();
  const sites = await sql<DeletedSite[]>`
    SELECT id, account_id AS "accountId" FROM deleted_sites ORDER BY deleted_at, id`;
  for (const site of sites) {
    while (!isOver() && (await removeEngagements(sql, site, disk)));
    await deleteHistory(sql, site, goesOn);
    while (!isOver() && (await removeVisitors(sql, site)));
    if (isOver()) return;
    // A request that was under way while the site was deleted may have created a visitor. No request takes an hour.
    await sql`DELETE FROM deleted_sites WHERE id = ${site.id} AND deleted_at < now() - interval '1 hour'`;
  }
}

/** Engagements whose last place was the site. True: there may be more of them. */
async function removeEngagements(sql: Sql, { id: siteId }: DeletedSite, disk: FileStore): Promise<boolean> {
  const found = await sql<{ id: EngagementId }[]>`
    SELECT id FROM engagements WHERE site_id = ${siteId} ORDER BY started_at, id LIMIT ${engagementsAtOnce}`;
  await deleteEngagements(
    sql,
    disk,
    found.map(({ id }) => id),
  );
  return found.length >= engagementsAtOnce;
}

/** Visitors who also talked on another site go back there, to the last one; the others are deleted. True: there may be more. */
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
