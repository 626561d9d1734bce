import type { FileStore } from '../engagements/files/file-store.ts';
import type { Piece, Sql } from '../platform/database.ts';
import type { AccountId, EngagementId, FileId, SiteId } from '../platform/ids.ts';

export interface DeletedSite {
  readonly id: SiteId;
  readonly accountId: AccountId;
}

/** What is set up on a site, each table before those that it refers to. */
const setUpTables = [
  'phone_channels',
  'digital_channels',
  'queues',
  'scheduling_policies',
  'teams',
  'operator_assignments',
  'application_tokens',
  'sip_domains',
  'visitor_authentication_providers',
] as const;

/** Deletes what is set up on the site. Queues of other sites lose a fallback that was on this one. */
export async function deleteSetUp(sql: Sql, { id }: DeletedSite): Promise<void> {
  await sql`
    UPDATE queues
       SET fallback_queue_id = NULL, version = version + 1, updated_at = now()
     WHERE fallback_queue_id IN (SELECT q.id FROM queues q WHERE q.site_id = ${id})`;
  for (const table of setUpTables) await sql`DELETE FROM ${sql(table)} WHERE site_id = ${id}`;
}

/** Nobody is super_manager of the site any more, which those who change a webhook must be of every site it has heard of. */
export async function forgetCoverage(sql: Sql, { id, accountId }: DeletedSite): Promise<void> {
  await sql`
    UPDATE webhooks SET has_covered = array_remove(has_covered, ${id})
     WHERE account_id = ${accountId} AND ${id} = ANY(has_covered)`;
}

type Rows = (sql: Sql, site: DeletedSite) => Piece;

const ofSite: Rows = (sql, { id }) => sql`site_id = ${id}`;

/** What has happened on a site whose queues are deleted, apart from visitors and engagements. */
const historyTables: readonly (readonly [table: string, rows: Rows])[] = [
  // Served by engagement_requests_by_site.
  ['engagement_requests', ofSite],
  ['queue_tickets', (sql, { id, accountId }) => sql`account_id = ${accountId} AND site_id = ${id}`],
  // Served by queue_visits_by_queue. The queues themselves are forgotten only after their visits.
  ['queue_visits', (sql, { id }) => sql`queue_id IN (SELECT q.id FROM deleted_queues q WHERE q.site_id = ${id})`],
  ['deleted_queues', ofSite],
  ['sms_messages', ofSite],
  ['sms_threads', ofSite],
  ['visitor_authentication_requests', ofSite],
];

/** How much one statement deletes. */
const rowsAtOnce = 5_000;

/** Asked before each piece of work that can wait: `false` ends the work for now. */
export type GoesOn = () => boolean | Promise<boolean>;

/** Deletes history a piece at a time. `false`: it was cut off, and the next attempt finds less to do. */
export async function deleteHistory(sql: Sql, site: DeletedSite, goesOn: GoesOn): Promise<boolean> {
  for (const [table, rows] of historyTables) {
    let deleted = rowsAtOnce;
    while (deleted >= rowsAtOnce) {
      if (!(await goesOn())) return false;
      const { count } = await sql`
        DELETE FROM ${sql(table)}
         WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${sql(table)} WHERE ${rows(sql, site)} LIMIT ${rowsAtOnce}))`;
      deleted = count;
    }
  }
  return true;
}

/** What belongs to an engagement. Its own row goes last, so that whatever is cut off is found again. */
const engagementTables = ['files', 'chat_messages', 'media_upgrade_requests', 'sub_engagements'] as const;

export async function deleteEngagements(sql: Sql, disk: FileStore, ids: readonly EngagementId[]): Promise<void> {
  const files = await sql<{ id: FileId }[]>`SELECT id FROM files WHERE engagement_id = ANY(${ids}::uuid[])`;
  for (const { id } of files) await disk.discard(id);
  for (const table of engagementTables) await sql`DELETE FROM ${sql(table)} WHERE engagement_id = ANY(${ids}::uuid[])`;
  await sql`DELETE FROM engagements WHERE id = ANY(${ids}::uuid[])`;
}
