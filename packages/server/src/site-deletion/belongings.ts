import type { FileStore } from '../engagements/files/file-store.ts';
import { batchSize, byIndex, deleteMatching, inBatches, type ShouldContinue } from '../platform/database/batches.ts';
import type { SqlFragment, Sql } from '../platform/database/database.ts';
import type { AccountId, EngagementId, FileId, OperatorId, SiteId } from '../platform/ids.ts';

export interface DeletedSite {
  readonly id: SiteId;
  readonly accountId: AccountId;
}

/** Tables with the configuration of a site. Each comes before the tables that it references. */
const configurationTables = [
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

/** Deletes the configuration of the site. Queues of other sites lose a fallback queue on this site. */
export async function deleteConfiguration(sql: Sql, { id }: DeletedSite): Promise<void> {
  await sql`
    UPDATE queues
       SET fallback_queue_id = NULL, version = version + 1, updated_at = now()
     WHERE fallback_queue_id IN (SELECT q.id FROM queues q WHERE q.site_id = ${id})`;
  for (const table of configurationTables) await sql`DELETE FROM ${sql(table)} WHERE site_id = ${id}`;
}

/** Removes the site from `has_covered`. Changing a webhook requires super_manager on every covered site, and the site has none any more. */
export async function forgetCoverage(sql: Sql, { id, accountId }: DeletedSite): Promise<void> {
  await sql`
    UPDATE webhooks SET has_covered = array_remove(has_covered, ${id})
     WHERE account_id = ${accountId} AND ${id} = ANY(has_covered)`;
}

type RowsToDelete = (sql: Sql) => SqlFragment;
type RowCondition = (sql: Sql, site: DeletedSite) => SqlFragment;

const ofSite: RowCondition = (sql, { id }) => sql`site_id = ${id}`;

/** Tables with the history of a site, apart from visitors and engagements. The queues of the site are deleted already. */
const historyTables: readonly (readonly [table: string, rows: RowCondition])[] = [
  // Served by engagement_requests_by_site.
  ['engagement_requests', ofSite],
  // Served by queue_tickets_ended_by_site. A site with other tickets is not deleted.
  ['queue_tickets', (sql, { id }) => sql`site_id = ${id} AND ended_at IS NOT NULL`],
  // Served by queue_visits_by_queue. The queues are removed from deleted_queues only after their visits.
  ['queue_visits', (sql, { id }) => sql`queue_id IN (SELECT q.id FROM deleted_queues q WHERE q.site_id = ${id})`],
  ['deleted_queues', ofSite],
  ['sms_messages', ofSite],
  ['sms_threads', ofSite],
  ['visitor_authentication_requests', ofSite],
];

/** Deletes history in batches. `false`: the work was interrupted; the next call continues it. */
export async function deleteHistory(sql: Sql, site: DeletedSite, shouldContinue: ShouldContinue): Promise<boolean> {
  for (const [table, rows] of historyTables) {
    const where: RowsToDelete = (own) => rows(own, site);
    if (!(await deleteMatching(sql, { table, where }, shouldContinue))) return false;
  }
  return true;
}

/**
 * Removes the site from the operator's presence intervals. Removing the assignment has closed these intervals, and closed intervals
 * never change, so the account need not be locked. Served by the primary key.
 */
export async function forgetInIntervals(sql: Sql, siteId: SiteId, operatorId: OperatorId): Promise<void> {
  await sql`
    UPDATE presence_intervals i
       SET (site_ids, team_ids) = (
             SELECT coalesce(array_agg(place.site_id ORDER BY number), '{}'), coalesce(array_agg(team_id ORDER BY number), '{}')
               FROM unnest(i.site_ids, i.team_ids) WITH ORDINALITY AS place (site_id, team_id, number)
              WHERE place.site_id <> ${siteId})
     WHERE i.operator_id = ${operatorId} AND ${siteId} = ANY(i.site_ids)`;
}

/** Tables with rows of an engagement. The engagement's own row is deleted last, so that interrupted work is found again. */
const engagementTables = ['chat_messages', 'media_upgrade_requests', 'calls', 'sub_engagements'] as const;

interface EngagementDeletion {
  readonly shouldContinue: ShouldContinue;
  /** Called with the number of rows of each batch, and how many of them are files. */
  readonly onDeleted?: (rows: number, files: number) => void;
}

/** Deletes a batch of engagements with all that belongs to them. `false`: the work was interrupted; the next call continues it. */
export async function deleteEngagements(
  pool: Sql,
  fileStore: FileStore,
  deletion: EngagementDeletion & { readonly ids: readonly EngagementId[] },
): Promise<boolean> {
  const { ids, shouldContinue, onDeleted = () => undefined } = deletion;
  // A conversation may have any number of files and messages.
  if (!(await inBatches(async () => deleteFiles(pool, fileStore, { ids, onDeleted }), shouldContinue))) return false;
  const where: RowsToDelete = (own) => own`engagement_id = ANY(${ids}::uuid[])`;
  for (const table of engagementTables)
    if (!(await deleteMatching(pool, { table, where }, shouldContinue, (rows) => onDeleted(rows, 0)))) return false;
  const { count } = await byIndex(pool, async (sql) => sql`DELETE FROM engagements WHERE id = ANY(${ids}::uuid[])`);
  onDeleted(count, 0);
  return true;
}

/** The bytes are discarded before the rows, so that interrupted work is found again. `true`: there may be more. */
async function deleteFiles(
  pool: Sql,
  fileStore: FileStore,
  { ids, onDeleted }: Required<Pick<EngagementDeletion, 'onDeleted'>> & { readonly ids: readonly EngagementId[] },
): Promise<boolean> {
  const found = await byIndex(
    pool,
    async (sql) => sql<{ id: FileId }[]>`
      SELECT id FROM files WHERE engagement_id = ANY(${ids}::uuid[]) LIMIT ${batchSize}`,
  );
  const files = found.map(({ id }) => id);
  // For an empty array, PostgreSQL may read the whole of a partial index.
  if (files.length === 0) return false;
  for (const id of files) await fileStore.discard(id);
  await byIndex(pool, async (sql) => sql`DELETE FROM files WHERE id = ANY(${files}::uuid[])`);
  onDeleted(files.length, files.length);
  return files.length === batchSize;
}

const engagementBatch = 500;

/** Deletes a batch of the engagements whose last site was this one. `true`: there may be more. */
export async function deleteEngagementsOfSite(
  pool: Sql,
  fileStore: FileStore,
  deletion: EngagementDeletion & { readonly siteId: SiteId },
): Promise<boolean> {
  const found = await byIndex(
    pool,
    async (sql) => sql<{ id: EngagementId }[]>`
      SELECT id FROM engagements WHERE site_id = ${deletion.siteId} ORDER BY started_at, id LIMIT ${engagementBatch}`,
  );
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return false;
  const isDone = await deleteEngagements(pool, fileStore, { ...deletion, ids });
  return !isDone || ids.length === engagementBatch;
}
