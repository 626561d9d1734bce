import type { FileStore } from '../engagements/files/file-store.ts';
import { lockAccount } from '../identity/lock-account.ts';
import { byIndex, deleteMatching, inBatches, preferIndexes } from '../platform/database/batches.ts';
import { inTransaction, type SqlFragment, type Sql } from '../platform/database/database.ts';
import type { EngagementId, OperatorId, VisitorId } from '../platform/ids.ts';
import {
  deleteEngagements,
  deleteHistory,
  deleteConfiguration,
  forgetCoverage,
  forgetInIntervals,
  type DeletedSite,
} from '../site-deletion/belongings.ts';
import { markDeleted } from '../webhooks/registrations/store.ts';
import { readActive } from './read-world.ts';
import { deleteDeliveries, deleteEvents, type EventRemoval } from './remove-events.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

interface Removal extends EventRemoval {
  readonly fileStore: FileStore;
}

/**
 * Removes sample data once nothing in it is active. One transaction removes everything that users can see; then the history is
 * removed in batches; the site and the row of sample_data are deleted last. Interrupted work is repeated and continues where it
 * stopped. `false`: something became active again, or another process has the lease.
 */
export async function remove(removal: Removal): Promise<boolean> {
  const { sql, sample, shouldContinue } = removal;
  if (!(await removeVisible(sql, sample))) return false;
  const isDone =
    (await deleteDeliveries(removal)) &&
    (await deleteEvents(removal)) &&
    (await deleteVisitors(removal)) &&
    (await removeSiteFromIntervals(removal)) &&
    // What was sent meanwhile.
    (await deleteDeliveries(removal)) &&
    (await shouldContinue());
  if (!isDone) return false;
  await deleteSampleSite(sql, sample);
  return true;
}

function siteOf({ account_id, site_id }: SampleRow): DeletedSite {
  return { id: site_id, accountId: account_id };
}

/** `false`: something is active. Runs under the account's lock, so nothing can start meanwhile. */
async function removeVisible(pool: Sql, sample: SampleRow): Promise<boolean> {
  const { account_id: account, operator_ids: operators, webhook_id: webhook } = sample;
  return inTransaction(pool, async (sql) => {
    await lockAccount(sql, account);
    await preferIndexes(sql);
    if ((await readActive(sql, sample, 'all')).length > 0) return false;
    await detachUserData(sql, sample);
    if (webhook !== null) await markDeleted(sql, webhook);
    await deleteConfiguration(sql, siteOf(sample));
    await sql`DELETE FROM presence_intervals WHERE operator_id = ANY(${operators}::uuid[])`;
    await sql`DELETE FROM operators WHERE account_id = ${account} AND id = ANY(${operators}::uuid[])`;
    return true;
  });
}

/**
 * Detaches the user's own data from the sample and keeps it. Webhooks lose the site; a webhook without another site is disabled.
 * Visitors from other sites go back there, with engagements that began there.
 */
async function detachUserData(sql: Sql, sample: SampleRow): Promise<void> {
  const { account_id: account, site_id: site, webhook_id: webhook } = sample;
  await sql`
    UPDATE webhooks w
       SET site_ids = rest.ids, version = version + 1, updated_at = now(),
           enabled = enabled AND rest.ids <> '{}',
           disabled_because = CASE WHEN rest.ids = '{}' THEN coalesce(disabled_because, 'asked') ELSE disabled_because END,
           disabled_at = CASE WHEN rest.ids = '{}' THEN coalesce(disabled_at, now()) ELSE disabled_at END
      FROM (SELECT id, array_remove(site_ids, ${site}) AS ids
              FROM webhooks
             WHERE account_id = ${account} AND ${site} = ANY(site_ids)) rest
     WHERE w.id = rest.id AND w.id IS DISTINCT FROM ${webhook}::uuid`;
  await moveVisitorsBack(sql, sample);
}

/** A condition on visitors `v`: not simulated, and older than the sample or with a request or ticket on another site. */
function cameFromElsewhere(sql: Sql, { site_id: site, created_at }: SampleRow) {
  return sql`
    NOT coalesce(starts_with(v.external_id, ${visitorMark}), false)
       AND (v.created_at < ${created_at}
            OR EXISTS (SELECT 1 FROM engagement_requests r WHERE r.visitor_id = v.id AND r.site_id <> ${site})
            OR EXISTS (SELECT 1 FROM queue_tickets t WHERE t.visitor_id = v.id AND t.site_id <> ${site}))`;
}

/** Moves visitors back to the site of their last request. Repeated, because visitors may return until the site is deleted. */
async function moveVisitorsBack(sql: Sql, sample: SampleRow): Promise<void> {
  const { account_id: account, site_id: site } = sample;
  await sql`
    UPDATE visitors v
       SET team_ids = '{}', version = version + 1, updated_at = now(),
           site_id = coalesce((SELECT r.site_id
                                 FROM engagement_requests r JOIN sites s ON s.id = r.site_id
                                WHERE r.visitor_id = v.id AND r.site_id <> ${site}
                                ORDER BY r.created_at DESC
                                LIMIT 1),
                              (SELECT s.id
                                 FROM sites s
                                WHERE s.account_id = ${account} AND s.id <> ${site}
                                ORDER BY s.created_at, s.id
                                LIMIT 1))
     WHERE v.account_id = ${account} AND v.site_id = ${site} AND ${cameFromElsewhere(sql, sample)}`;
}

const visitorBatch = 500;
const engagementBatch = 500;

/** Deletes visitors with their history, and then the remaining history of the site. */
async function deleteVisitors(removal: Removal): Promise<boolean> {
  const { sql: pool, sample, shouldContinue } = removal;
  const { account_id: account, site_id: site } = sample;
  for (;;) {
    if (!(await shouldContinue())) return false;
    const ids = await byIndex(pool, async (sql) => {
      await moveVisitorsBack(sql, sample);
      const visitors = await sql<{ id: VisitorId }[]>`
        SELECT v.id FROM visitors v
         WHERE v.site_id = ${site} AND NOT (${cameFromElsewhere(sql, sample)})
         LIMIT ${visitorBatch}`;
      return visitors.map(({ id }) => id);
    });
    if (ids.length === 0) break;
    if (!(await removeEngagements(removal, (own) => own`visitor_id = ANY(${ids}::uuid[])`))) return false;
    await byIndex(pool, async (sql) => {
      await sql`DELETE FROM engagement_requests WHERE visitor_id = ANY(${ids}::uuid[])`;
      await sql`DELETE FROM visitors WHERE id = ANY(${ids}::uuid[])`;
    });
    if (ids.length < visitorBatch) break;
  }
  return (
    (await moveEngagementsBack(removal)) &&
    // Served by engagements_by_site. What was only asked for on the sample site was moved back.
    (await removeEngagements(removal, (own) => own`site_id = ${site}`)) &&
    // Served by sub_engagements_by_site.
    (await deleteMatching(
      pool,
      { table: 'sub_engagements', where: (own) => own`site_id = ${site} AND account_id = ${account}` },
      shouldContinue,
    )) &&
    (await deleteHistory(pool, siteOf(sample), shouldContinue))
  );
}

/** Engagements that began elsewhere, and came to the sample by transfer or fallback, go back to the site where they began. */
async function moveEngagementsBack({ sql: pool, sample, shouldContinue }: Removal): Promise<boolean> {
  const { account_id: account, site_id: site } = sample;
  return inBatches(
    async () =>
      byIndex(pool, async (sql) => {
        const before = sql`
          (SELECT s.site_id FROM sub_engagements s
            WHERE s.engagement_id = e.id AND s.site_id <> ${site}
            ORDER BY s.started_at DESC
            LIMIT 1)`;
        // An engagement was asked for on the site of its ticket, or without one on the site where it began.
        const { count } = await sql`
          WITH moving AS MATERIALIZED (
                 SELECT e.id
                   FROM engagements e
                  WHERE e.id IN (SELECT id FROM engagements WHERE site_id = ${site}
                                  UNION
                                 SELECT engagement_id FROM sub_engagements WHERE site_id = ${site}
                                  UNION
                                 SELECT engagement_id FROM queue_tickets WHERE site_id = ${site} AND ended_at IS NOT NULL)
                    AND e.account_id = ${account} AND (e.site_id = ${site} OR e.asked_on_site_id = ${site})
                    AND (e.asked_on_site_id <> ${site} OR ${before} IS NOT NULL)
                  LIMIT ${engagementBatch})
          UPDATE engagements e
             SET site_id = CASE WHEN e.site_id <> ${site} THEN e.site_id ELSE coalesce(${before}, e.asked_on_site_id) END,
                 asked_on_site_id = CASE WHEN e.asked_on_site_id <> ${site} THEN e.asked_on_site_id ELSE ${before} END
            FROM moving
           WHERE e.id = moving.id`;
        return count > 0;
      }),
    shouldContinue,
  );
}

async function removeEngagements(
  { sql: pool, fileStore, shouldContinue }: Removal,
  which: (sql: Sql) => SqlFragment,
): Promise<boolean> {
  for (;;) {
    const found = await byIndex(
      pool,
      async (sql) =>
        sql<{ id: EngagementId }[]>`SELECT id FROM engagements WHERE ${which(sql)} LIMIT ${engagementBatch}`,
    );
    if (found.length === 0) return true;
    const ids = found.map(({ id }) => id);
    if (!(await deleteEngagements(pool, fileStore, { ids, shouldContinue }))) return false;
  }
}

/** The user's operators keep their presence intervals, without the sample site. */
async function removeSiteFromIntervals({ sql, sample, shouldContinue }: Removal): Promise<boolean> {
  const { account_id: account, site_id: site } = sample;
  const operators = await sql<{ id: OperatorId }[]>`SELECT id FROM operators WHERE account_id = ${account}`;
  for (const { id } of operators) {
    if (!(await shouldContinue())) return false;
    await forgetInIntervals(sql, site, id);
  }
  return true;
}

/** Deletes the site and the row of sample_data. */
async function deleteSampleSite(pool: Sql, sample: SampleRow): Promise<void> {
  const { account_id, site_id, webhook_id } = sample;
  await inTransaction(pool, async (sql) => {
    await lockAccount(sql, account_id);
    if (webhook_id !== null) {
      await sql`DELETE FROM webhook_recoveries WHERE webhook_id = ${webhook_id}`;
      await sql`DELETE FROM webhooks WHERE id = ${webhook_id}`;
    }
    await forgetCoverage(sql, siteOf(sample));
    await sql`DELETE FROM sites WHERE id = ${site_id} AND account_id = ${account_id}`;
    await sql`DELETE FROM sample_data WHERE account_id = ${account_id}`;
  });
}
