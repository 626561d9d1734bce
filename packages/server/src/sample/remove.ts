import type { FileStore } from '../engagements/files/file-store.ts';
import { lockAccount } from '../identity/lock-account.ts';
import { inTransaction, type Piece, type Sql } from '../platform/database.ts';
import type { EngagementId, OperatorId, VisitorId } from '../platform/ids.ts';
import {
  deleteEngagements,
  deleteHistory,
  deleteSetUp,
  forgetCoverage,
  type DeletedSite,
} from '../site-deletion/belongings.ts';
import { markDeleted } from '../webhooks/registrations/store.ts';
import { readUnderWay } from './read-world.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

interface Removal {
  readonly sql: Sql;
  readonly disk: FileStore;
  readonly sample: SampleRow;
  /** Keeps the lease; false: another has it now. */
  readonly goesOn: () => Promise<boolean>;
}

/**
 * Removes sample data, once nothing goes on in it. First, in one transaction, all that anybody can see and use; then, a piece at
 * a time, what has happened there; the site itself and the row that remembers all of it go last. Cut off at any moment it
 * is begun again, and finds less to do. False: something goes on again, or another process has it.
 */
export async function remove(removal: Removal): Promise<boolean> {
  const { sql, sample, goesOn } = removal;
  if (!(await takeDown(sql, sample))) return false;
  if (!(await dropEvents(removal)) || !(await dropVisitors(removal)) || !(await takeOffIntervals(removal)))
    return false;
  if (!(await goesOn())) return false;
  await dropLast(sql, sample);
  return true;
}

function siteOf({ account_id, site_id }: SampleRow): DeletedSite {
  return { id: site_id, accountId: account_id };
}

/** False: something goes on. Whatever could begin is decided under the account's lock, so nothing does meanwhile. */
async function takeDown(pool: Sql, sample: SampleRow): Promise<boolean> {
  const { account_id: account, operator_ids: operators, webhook_id: webhook } = sample;
  return inTransaction(pool, async (sql) => {
    await lockAccount(sql, account);
    if ((await readUnderWay(sql, sample, 'all')).length > 0) return false;
    await keepWhatIsNotOurs(sql, sample);
    if (webhook !== null) await markDeleted(sql, webhook);
    await deleteSetUp(sql, siteOf(sample));
    await sql`DELETE FROM presence_intervals WHERE operator_id = ANY(${operators}::uuid[])`;
    await sql`DELETE FROM operators WHERE account_id = ${account} AND id = ANY(${operators}::uuid[])`;
    return true;
  });
}

/**
 * What a user has attached to the sample, or brought into it, loses that and no more: webhooks lose the site (one that has no other
 * is disabled until it is given one). Visitors who came from elsewhere go back there, and so does what was said with them and
 * began there.
 */
async function keepWhatIsNotOurs(sql: Sql, sample: SampleRow): Promise<void> {
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
  await sendVisitorsBack(sql, sample);
}

/** Visitors who came from elsewhere: whoever is not made up, and is older than the sample or has asked for somebody on another site. */
function cameFromElsewhere(sql: Sql, { site_id: site, created_at }: SampleRow) {
  return sql`
    NOT coalesce(starts_with(v.external_id, ${visitorMark}), false)
       AND (v.created_at < ${created_at}
            OR EXISTS (SELECT 1 FROM engagement_requests r WHERE r.visitor_id = v.id AND r.site_id <> ${site})
            OR EXISTS (SELECT 1 FROM queue_tickets t WHERE t.visitor_id = v.id AND t.site_id <> ${site}))`;
}

/** To where they last asked for somebody. A visitor may come again at any time, until there is no site to come to. */
async function sendVisitorsBack(sql: Sql, sample: SampleRow): Promise<void> {
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

/** The log, an hour at a time: no statement has more to look at than a day of it. What was delivered of it goes before it. */
async function dropEvents({ sql, sample, goesOn }: Removal): Promise<boolean> {
  const { account_id: account, site_id: site, webhook_id: webhook, created_at } = sample;
  const isOurs = (event: 'e' | 'events') => sql`
    (${sql(event)}.site_id = ${site}
     OR EXISTS (SELECT 1 FROM visitors v WHERE v.id = ${sql(event)}.visitor_id AND v.site_id = ${site}))`;
  const told = (log: 'deliveries' | 'delivery_log') => sql`
    (${sql(log)}.webhook_id IS NOT DISTINCT FROM ${webhook}::uuid
     OR EXISTS (SELECT 1 FROM events e
                 WHERE e.account_id = ${account} AND e.xid = ${sql(log)}.event_xid AND e.seq = ${sql(log)}.event_seq
                   AND e.occurred_at = ${sql(log)}.occurred_at AND ${isOurs('e')}))`;
  await sql`DELETE FROM deliveries WHERE account_id = ${account} AND ${told('deliveries')}`;
  const end = Date.now() + hourMs;
  // Events may have been written by a clock that is somewhat behind.
  for (let at = created_at.getTime() - hourMs; at < end; at += hourMs) {
    if (!(await goesOn())) return false;
    const [from, to] = [new Date(at), new Date(at + hourMs)];
    await sql`
      DELETE FROM delivery_log
       WHERE account_id = ${account} AND at >= ${from} AND at < ${to} AND ${told('delivery_log')}`;
  }
  for (let at = created_at.getTime() - hourMs; at < end; at += hourMs) {
    if (!(await goesOn())) return false;
    const [from, to] = [new Date(at), new Date(at + hourMs)];
    await sql`
      WITH gone AS (
        DELETE FROM events
         WHERE account_id = ${account} AND occurred_at >= ${from} AND occurred_at < ${to} AND ${isOurs('events')}
        RETURNING id)
      DELETE FROM event_secrets WHERE event_id IN (SELECT id FROM gone)`;
  }
  return true;
}

const visitorsInBatch = 500;

/** Visitors with all they have done; then what others have done at the site. */
async function dropVisitors(removal: Removal): Promise<boolean> {
  const { sql, sample, goesOn } = removal;
  const { account_id: account, site_id: site } = sample;
  for (;;) {
    if (!(await goesOn())) return false;
    await sendVisitorsBack(sql, sample);
    const visitors = await sql<{ id: VisitorId }[]>`
      SELECT v.id FROM visitors v
       WHERE v.site_id = ${site} AND NOT (${cameFromElsewhere(sql, sample)})
       LIMIT ${visitorsInBatch}`;
    const ids = visitors.map(({ id }) => id);
    await removeEngagements(removal, sql`visitor_id = ANY(${ids}::uuid[])`);
    await sql`DELETE FROM engagement_requests WHERE visitor_id = ANY(${ids}::uuid[])`;
    await sql`DELETE FROM visitors WHERE id = ANY(${ids}::uuid[])`;
    if (visitors.length < visitorsInBatch) break;
  }
  await bringBackEngagements(sql, sample);
  await removeEngagements(removal, sql`(site_id = ${site} OR asked_on_site_id = ${site}) AND account_id = ${account}`);
  await sql`DELETE FROM sub_engagements WHERE account_id = ${account} AND site_id = ${site}`;
  return deleteHistory(sql, siteOf(sample), goesOn);
}

/** What began elsewhere and was handed on to the sample, or came to it by a fallback, is again where it began. */
async function bringBackEngagements(sql: Sql, { account_id: account, site_id: site }: SampleRow): Promise<void> {
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

async function removeEngagements({ sql, disk }: Removal, which: Piece): Promise<void> {
  const found = await sql<{ id: EngagementId }[]>`SELECT id FROM engagements WHERE ${which}`;
  await deleteEngagements(
    sql,
    disk,
    found.map(({ id }) => id),
  );
}

/**
 * Operators of the user who worked on the sample site keep their time, without the site. Taking them off the site has closed these
 * intervals, and nobody changes a closed one, so the account is not locked meanwhile. An operator at a time, by the primary key.
 */
async function takeOffIntervals({ sql, sample, goesOn }: Removal): Promise<boolean> {
  const { account_id: account, site_id: site } = sample;
  const operators = await sql<{ id: OperatorId }[]>`SELECT id FROM operators WHERE account_id = ${account}`;
  for (const { id } of operators) {
    if (!(await goesOn())) return false;
    await sql`
      UPDATE presence_intervals i
         SET (site_ids, team_ids) = (
               SELECT coalesce(array_agg(place.site_id ORDER BY number), '{}'), coalesce(array_agg(team_id ORDER BY number), '{}')
                 FROM unnest(i.site_ids, i.team_ids) WITH ORDINALITY AS place (site_id, team_id, number)
                WHERE place.site_id <> ${site})
       WHERE i.operator_id = ${id} AND ${site} = ANY(i.site_ids)`;
  }
  return true;
}

/** The site; and with it the last that is known of the sample. */
async function dropLast(pool: Sql, sample: SampleRow): Promise<void> {
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
