import type { FileStore } from '../engagements/files/file-store.ts';
import { batchSize, inBatches, preferIndexes, type ShouldContinue } from '../platform/database/batches.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';
import type { OperatorId, VisitorId } from '../platform/ids.ts';
import { deleteEngagementsOfSite, deleteHistory, forgetInIntervals, type DeletedSite } from './belongings.ts';

/** Operators in one batch. One has thousands of presence intervals. */
const operatorBatch = 20;

/**
 * Removes the history of deleted sites in batches, as long as `shouldContinue` says so. Nobody can read these rows any more, and
 * each statement is independent: the work may be interrupted anywhere, and several processes may do it concurrently.
 */
export async function removeRemains(sql: Sql, fileStore: FileStore, shouldContinue: ShouldContinue): Promise<void> {
  const sites = await sql<DeletedSite[]>`
    SELECT id, account_id AS "accountId" FROM deleted_sites ORDER BY deleted_at, id`;
  for (const site of sites) {
    const isDone =
      (await inBatches(
        async () => deleteEngagementsOfSite(sql, fileStore, { siteId: site.id, shouldContinue }),
        shouldContinue,
      )) &&
      (await deleteHistory(sql, site, shouldContinue)) &&
      (await inBatches(async () => removeVisitors(sql, site), shouldContinue)) &&
      (await inBatches(async () => removeFromIntervals(sql, site), shouldContinue));
    if (!isDone) return;
    // A request that ran during the deletion may have created a visitor. No request takes an hour.
    await sql`DELETE FROM deleted_sites WHERE id = ${site.id} AND deleted_at < now() - interval '1 hour'`;
  }
}

/** Moves visitors who were engaged on other sites back to the last of these, and deletes the others. `true`: there may be more. */
async function removeVisitors(pool: Sql, { id: siteId }: DeletedSite): Promise<boolean> {
  return inTransaction(pool, async (sql) => {
    await preferIndexes(sql);
    const found = await sql<{ id: VisitorId }[]>`
      SELECT id FROM visitors WHERE site_id = ${siteId} LIMIT ${batchSize} FOR UPDATE`;
    const ids = found.map(({ id }) => id);
    if (ids.length === 0) return false;
    await sql`
      UPDATE visitors v
         SET site_id = last.site_id, team_ids = '{}', version = version + 1, updated_at = now()
        FROM (SELECT DISTINCT ON (e.visitor_id) e.visitor_id, e.site_id
                FROM engagements e
                JOIN sites s ON s.id = e.site_id
               WHERE e.visitor_id = ANY(${ids}::uuid[])
               ORDER BY e.visitor_id, e.started_at DESC) AS last
       WHERE v.id = last.visitor_id`;
    await sql`DELETE FROM visitors WHERE id = ANY(${ids}::uuid[]) AND site_id = ${siteId}`;
    return ids.length === batchSize;
  });
}

/** Continues after the operator up to whom an earlier call came. `true`: there may be more. */
async function removeFromIntervals(sql: Sql, { id: siteId, accountId }: DeletedSite): Promise<boolean> {
  const found = await sql<{ id: OperatorId }[]>`
    SELECT o.id
      FROM operators o
      JOIN deleted_sites d ON d.id = ${siteId}
     WHERE o.account_id = ${accountId} AND (d.forgotten_up_to IS NULL OR o.id > d.forgotten_up_to)
     ORDER BY o.id
     LIMIT ${operatorBatch}`;
  for (const { id } of found) await forgetInIntervals(sql, siteId, id);
  const last = found.at(-1);
  if (last === undefined) return false;
  await sql`UPDATE deleted_sites SET forgotten_up_to = greatest(forgotten_up_to, ${last.id}) WHERE id = ${siteId}`;
  return true;
}
