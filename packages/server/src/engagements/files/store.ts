import type { Sql } from '../../platform/database.ts';
import { hasCome } from '../../platform/due-time.ts';
import type { AccountId, EngagementId, FileId, OperatorId, SiteId, VisitorId } from '../../platform/ids.ts';
import type { FileRow, ScanResult, Side } from './file.ts';

const columns = (sql: Sql) => sql`
  f.id, f.account_id, f.engagement_id, f.uploaded_by, f.uploader_id, f.name, f.content_type, f.bytes, f.sha256, f.state,
  f.created_at, f.scanned_at, f.deleted_at IS NOT NULL AS deleted, f.deleted_at, f.deleted_by`;

export interface LockedEngagement {
  readonly id: EngagementId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly operator_id: OperatorId;
  readonly ticket_id: string | null;
  readonly request_id: string;
  readonly ended_at: Date | null;
  readonly heard_by: readonly string[];
}

/** Under its row the events of an engagement are in order, and it does not end meanwhile. */
export async function lockEngagement(sql: Sql, id: EngagementId): Promise<LockedEngagement | null> {
  const [row] = await sql<LockedEngagement[]>`
    SELECT id, account_id, site_id, visitor_id, operator_id, ticket_id, request_id, ended_at, heard_by
      FROM engagements WHERE id = ${id}
       FOR NO KEY UPDATE`;
  return row ?? null;
}

export interface NewFile {
  readonly id: FileId;
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly uploadedBy: Side;
  readonly uploaderId: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly state: 'pending' | 'clean';
}

/** Nothing is inserted, and `false` answered, where the engagement has `most` files already; its row is locked. */
export async function insertFile(sql: Sql, file: NewFile, most: number): Promise<boolean> {
  const rows = await sql`
    INSERT INTO files (id, account_id, engagement_id, uploaded_by, uploader_id, name, content_type, bytes, sha256, state,
                       scan_due_at, created_at)
    SELECT ${file.id}, ${file.accountId}, ${file.engagementId}, ${file.uploadedBy}, ${file.uploaderId}, ${file.name},
           ${file.contentType}, ${file.bytes}, ${file.sha256}, ${file.state}, now(), now()
     WHERE (SELECT count(*) FROM files WHERE engagement_id = ${file.engagementId}) < ${most}
    RETURNING 1`;
  return rows.length === 1;
}

export async function countFiles(sql: Sql, engagementId: EngagementId): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM files WHERE engagement_id = ${engagementId}`;
  return row?.count ?? 0;
}

export async function findFile(sql: Sql, accountId: AccountId, id: FileId): Promise<FileRow | null> {
  const [row] = await sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.id = ${id} AND f.account_id = ${accountId}`;
  return row ?? null;
}

interface FileInEngagement {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: FileId;
}

/** The file as it is now, which nobody else changes, or names in a message, until the transaction ends. */
export async function lockFile(sql: Sql, { accountId, engagementId, id }: FileInEngagement): Promise<FileRow | null> {
  const [row] = await sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.id = ${id} AND f.engagement_id = ${engagementId} AND f.account_id = ${accountId}
       FOR UPDATE OF f`;
  return row ?? null;
}

type DeletedFile = FileRow & { readonly deleted_at: Date };

/** Of a file that is locked. */
export async function markDeleted(sql: Sql, file: FileRow, by: Side): Promise<DeletedFile> {
  const [row] = await sql<Pick<DeletedFile, 'deleted' | 'deleted_at' | 'deleted_by'>[]>`
    UPDATE files SET deleted_at = now(), deleted_by = ${by} WHERE id = ${file.id}
    RETURNING true AS deleted, deleted_at, deleted_by`;
  if (row === undefined) throw new Error('a file has vanished while it was locked');
  return { ...file, ...row };
}

/** Says so in every message that names the file, by its id at the end of the address. Served by chat_messages_in_order. */
export async function showAsDeleted(sql: Sql, { id, engagement_id: engagementId }: FileRow): Promise<void> {
  await sql`
    UPDATE chat_messages
       SET attachment = (
             SELECT ('{"type":"files","files":[' || string_agg(
                       CASE WHEN right(file ->> 'url', 36) = ${id}::text
                            THEN '{"url":' || (file -> 'url')::text || ',"name":' || (file -> 'name')::text
                                 || ',"content_type":' || (file -> 'content_type')::text || ',"deleted":true}'
                            ELSE file::text END, ',' ORDER BY place) || ']}')::json
               FROM json_array_elements(attachment -> 'files') WITH ORDINALITY AS sent (file, place))
     WHERE engagement_id = ${engagementId} AND attachment ->> 'type' = 'files'
       AND EXISTS (SELECT FROM json_array_elements(attachment -> 'files') AS file
                    WHERE right(file ->> 'url', 36) = ${id}::text)`;
}

/** Oldest first. Served by files_by_engagement; an engagement has few. */
export async function listFiles(sql: Sql, engagementId: EngagementId): Promise<FileRow[]> {
  return sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.engagement_id = ${engagementId}
     ORDER BY f.created_at, f.id`;
}

interface PendingList {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly limit: number | null;
  readonly offset: number;
}

/** Oldest first. Served by files_pending: few wait at any time. */
export async function listPending(sql: Sql, { accountId, siteIds, limit, offset }: PendingList): Promise<FileRow[]> {
  return sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.state = 'pending' AND f.deleted_at IS NULL AND f.account_id = ${accountId} AND e.site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY f.created_at, f.id
     LIMIT ${limit} OFFSET ${offset}`;
}

interface Attachable {
  readonly engagementId: string;
  readonly ids: readonly string[];
  readonly sender: Side;
}

/**
 * For a message with files: of these ids, those that the sender's side has uploaded in the engagement. What is missing is
 * foreign or unknown; what is there may be sent if its `state` is `clean`, which it then remains, and it is not deleted.
 */
export async function cleanFiles(sql: Sql, { engagementId, ids, sender }: Attachable) {
  return sql<Pick<FileRow, 'id' | 'state' | 'deleted'>[]>`
    SELECT id, state, deleted_at IS NOT NULL AS deleted
      FROM files
     WHERE id = ANY(${[...ids]}::uuid[]) AND engagement_id = ${engagementId} AND uploaded_by = ${sender}`;
}

export interface DueFile {
  readonly id: FileId;
  readonly engagement_id: EngagementId;
  readonly scan_attempts: number;
}

/** Up to `most` files that nobody is scanning, now this caller's for `leaseMs`: longer than any delay. Served by files_pending. */
export async function claimDueFiles(sql: Sql, most: number, leaseMs: number): Promise<DueFile[]> {
  return sql<DueFile[]>`
    UPDATE files
       SET scan_due_at = now() + ${leaseMs} * interval '1 millisecond', scan_attempts = scan_attempts + 1
     WHERE id IN (SELECT id FROM files
                   WHERE state = 'pending' AND deleted_at IS NULL AND ${hasCome(sql, sql`scan_due_at`, leaseMs / 1000)}
                   ORDER BY scan_due_at
                   LIMIT ${most}
                     FOR UPDATE SKIP LOCKED)
    RETURNING id, engagement_id, scan_attempts`;
}

export async function postponeScan(sql: Sql, id: FileId, delayMs: number): Promise<void> {
  await sql`
    UPDATE files SET scan_due_at = now() + ${delayMs} * interval '1 millisecond' WHERE id = ${id} AND state = 'pending'`;
}

/** `false` where it has a result already, or is deleted. */
export async function writeScanResult(sql: Sql, id: FileId, result: ScanResult): Promise<boolean> {
  const rows = await sql`
    UPDATE files SET state = ${result}, scanned_at = now()
     WHERE id = ${id} AND state = 'pending' AND deleted_at IS NULL
    RETURNING 1`;
  return rows.length === 1;
}

export async function markRemoved(sql: Sql, id: FileId): Promise<void> {
  await sql`
    UPDATE files SET stored = false WHERE id = ${id} AND stored AND (state = 'infected' OR deleted_at IS NOT NULL)`;
}

/** Infected and deleted ones whose bytes may still be there. Served by files_to_remove. */
export async function listToRemove(sql: Sql, most: number): Promise<FileId[]> {
  const rows = await sql<{ id: FileId }[]>`
    SELECT id FROM files WHERE stored AND (state = 'infected' OR deleted_at IS NOT NULL) ORDER BY id LIMIT ${most}`;
  return rows.map(({ id }) => id);
}

/** Which of these have a row. */
export async function knownFiles(sql: Sql, ids: readonly FileId[]): Promise<Set<FileId>> {
  const rows = await sql<{ id: FileId }[]>`SELECT id FROM files WHERE id = ANY(${[...ids]}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** How many wait to be scanned, and for how long the one that has waited longest. */
export async function measurePending(sql: Sql): Promise<{ count: number; oldestSec: number }> {
  const [row] = await sql<{ count: number; oldestSec: number }[]>`
    SELECT count(*)::integer AS count,
           coalesce(extract(epoch FROM now() - min(created_at)), 0)::double precision AS "oldestSec"
      FROM files
     WHERE state = 'pending' AND deleted_at IS NULL`;
  return row ?? { count: 0, oldestSec: 0 };
}
