import type { FileStore } from '../engagements/files/file-store.ts';
import { lockAccount } from '../identity/lock-account.ts';
import { inTransaction, type Piece, type Sql } from '../platform/database/database.ts';
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
import { visitorMark, type SampleRow } from './sample-data.ts';

interface Removal {
  readonly sql: Sql;
  readonly fileStore: FileStore;
  readonly sample: SampleRow;
  /** Renews the lease. `false`: another process has it now. */
  readonly shouldContinue: () => Promise<boolean>;
}

/**
 * Removes sample data once nothing in it is active. One transaction removes everything that users can see; then the history is
 * removed in batches; the site and the row of sample_data are deleted last. Interrupted work is repeated and continues where it
 * stopped. `false`: something became active again, or another process has the lease.
 */
export async function remove(removal: Removal): Promise<boolean> {
  const { sql, sample, shouldContinue } = removal;
  if (!(await removeVisible(sql, sample))) return false;
  if (!(await deleteEvents(removal)) || !(await deleteVisitors(removal)) || !(await removeSiteFromIntervals(removal)))
    return false;
  if (!(await shouldContinue())) return false;
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

const hourMs = 3_600_000;

/** Deletes the events of the sample, hour by hour to keep statements small. Their deliveries are deleted first. */
async function deleteEvents({ sql, sample, shouldContinue }: Removal): Promise<boolean> {
  const { account_id: account, site_id: site, webhook_id: webhook, created_at } = sample;
  const isSampleEvent = (event: 'e' | 'events') => sql`
    (${sql(event)}.site_id = ${site}
     OR EXISTS (SELECT 1 FROM visitors v WHERE v.id = ${sql(event)}.visitor_id AND v.site_id = ${site}))`;
  const isSampleDelivery = (log: 'deliveries' | 'delivery_log') => sql`
    (${sql(log)}.webhook_id IS NOT DISTINCT FROM ${webhook}::uuid
     OR EXISTS (SELECT 1 FROM events e
                 WHERE e.account_id = ${account} AND e.xid = ${sql(log)}.event_xid AND e.seq = ${sql(log)}.event_seq
                   AND e.occurred_at = ${sql(log)}.occurred_at AND ${isSampleEvent('e')}))`;
  await sql`DELETE FROM deliveries WHERE account_id = ${account} AND ${isSampleDelivery('deliveries')}`;
  const end = Date.now() + hourMs;
  // Starts an hour early, because the clock that wrote the events may be behind.
  for (let at = created_at.getTime() - hourMs; at < end; at += hourMs) {
    if (!(await shouldContinue())) return false;
    const [from, to] = [new Date(at), new Date(at + hourMs)];
    await sql`
      DELETE FROM delivery_log
       WHERE account_id = ${account} AND at >= ${from} AND at < ${to} AND ${isSampleDelivery('delivery_log')}`;
  }
  for (let at = created_at.getTime() - hourMs; at < end; at += hourMs) {
    if (!(await shouldContinue())) return false;
    const [from, to] = [new Date(at), new Date(at + hourMs)];
    await sql`
      WITH deleted AS (
        DELETE FROM events
         WHERE account_id = ${account} AND occurred_at >= ${from} AND occurred_at < ${to} AND ${isSampleEvent('events')}
        RETURNING id)
      DELETE FROM event_secrets WHERE event_id IN (SELECT id FROM deleted)`;
  }
  return true;
}

const visitorBatch = 500;

/** Deletes visitors with their history, and then the remaining history of the site. */
async function deleteVisitors(removal: Removal): Promise<boolean> {
  const { sql, sample, shouldContinue } = removal;
  const { account_id: account, site_id: site } = sample;
  for (;;) {
    if (!(await shouldContinue())) return false;
    await moveVisitorsBack(sql, sample);
    const visitors = await sql<{ id: VisitorId }[]>`
      SELECT v.id FROM visitors v
       WHERE v.site_id = ${site} AND NOT (${cameFromElsewhere(sql, sample)})
       LIMIT ${visitorBatch}`;
    const ids = visitors.map(({ id }) => id);
    if (!(await removeEngagements(removal, sql`visitor_id = ANY(${ids}::uuid[])`))) return false;
    await sql`DELETE FROM engagement_requests WHERE visitor_id = ANY(${ids}::uuid[])`;
    await sql`DELETE FROM visitors WHERE id = ANY(${ids}::uuid[])`;
    if (visitors.length < visitorBatch) break;
  }
  await moveEngagementsBack(sql, sample);
  const ofSite = sql`(site_id = ${site} OR asked_on_site_id = ${site}) AND account_id = ${account}`;
  if (!(await removeEngagements(removal, ofSite))) return false;
  await sql`DELETE FROM sub_engagements WHERE account_id = ${account} AND site_id = ${site}`;
  return deleteHistory(sql, siteOf(sample), shouldContinue);
}

/** Engagements that began elsewhere, and came to the sample by transfer or fallback, go back to the site where they began. */
async function moveEngagementsBack(sql: Sql, { account_id: account, site_id: site }: SampleRow): Promise<void> {
  const before = sql`
    (SELECT s.site_id FROM sub_engagements s
      WHERE s.engagement_id = e.id AND s.site_id <> ${site}
      ORDER BY s.started_at DESC
      LIMIT 1)`;
  await sql`
    UPDATE engagements e
       SET site_id = CASE WHEN e.site_id <> ${site} THEN e.site_id ELSE coalesce(${before}, e.asked_on_site_id) END,
           asked_on_site_id = CASE WHEN e.asked_on_site_id <> ${site} THEN e.asked_on_site_id ELSE ${before} END
     WHERE e.account_id = ${account} AND (e.site_id = ${site} OR e.asked_on_site_id = ${site})
       AND (e.asked_on_site_id <> ${site} OR ${before} IS NOT NULL)`;
}

async function removeEngagements({ sql, fileStore, shouldContinue }: Removal, which: Piece): Promise<boolean> {
  const found = await sql<{ id: EngagementId }[]>`SELECT id FROM engagements WHERE ${which}`;
  return deleteEngagements(sql, fileStore, { ids: found.map(({ id }) => id), shouldContinue });
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
      await sql`DELETE FROM deliveries WHERE webhook_id = ${webhook_id}`;
      await sql`DELETE FROM delivery_log WHERE webhook_id = ${webhook_id}`;
      await sql`DELETE FROM webhooks WHERE id = ${webhook_id}`;
    }
    await forgetCoverage(sql, siteOf(sample));
    await sql`DELETE FROM sites WHERE id = ${site_id} AND account_id = ${account_id}`;
    await sql`DELETE FROM sample_data WHERE account_id = ${account_id}`;
  });
}
