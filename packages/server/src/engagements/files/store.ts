import type { Sql } from '../../platform/database/database.ts';
import { isNotMoving } from '../../identity/moving.ts';
import { hasCome } from '../../platform/clock/due-time.ts';
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

/** Locks the engagement's row. The lock orders the engagement's events, and the engagement cannot end while it is held. */
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

/** `false`: the engagement has `max` files already. The caller holds the engagement's lock, which makes the limit exact. */
export async function insertFile(sql: Sql, file: NewFile, max: number): Promise<boolean> {
  const rows = await sql`
    INSERT INTO files (id, account_id, engagement_id, uploaded_by, uploader_id, name, content_type, bytes, sha256, state,
                       scan_due_at, created_at)
    SELECT ${file.id}, ${file.accountId}, ${file.engagementId}, ${file.uploadedBy}, ${file.uploaderId}, ${file.name},
           ${file.contentType}, ${file.bytes}, ${file.sha256}, ${file.state}, now(), now()
     WHERE (SELECT count(*) FROM files WHERE engagement_id = ${file.engagementId}) < ${max}
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

/** Locks a file: until the transaction ends, no other transaction changes it or names it in a message. */
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

/** The caller holds the file's lock. */
export async function markDeleted(sql: Sql, file: FileRow, by: Side): Promise<DeletedFile> {
  const [row] = await sql<Pick<DeletedFile, 'deleted' | 'deleted_at' | 'deleted_by'>[]>`
    UPDATE files SET deleted_at = now(), deleted_by = ${by} WHERE id = ${file.id}
    RETURNING true AS deleted, deleted_at, deleted_by`;
  if (row === undefined) throw new Error('a locked file has disappeared');
  return { ...file, ...row };
}

/** Marks the file as deleted in every message that names it, by the id at the end of its URL. Served by chat_messages_in_order. */
export async function markDeletedInMessages(sql: Sql, { id, engagement_id: engagementId }: FileRow): Promise<void> {
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

/** Oldest first. Served by files_by_engagement; an engagement has few files. */
export async function listFiles(sql: Sql, engagementId: EngagementId): Promise<FileRow[]> {
  return sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.engagement_id = ${engagementId}
     ORDER BY f.created_at, f.id`;
}

interface PendingQuery {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly limit: number | null;
  readonly offset: number;
}

/** Oldest first. Served by files_pending; few files are pending at any time. */
export async function listPending(sql: Sql, { accountId, siteIds, limit, offset }: PendingQuery): Promise<FileRow[]> {
  return sql<FileRow[]>`
    SELECT ${columns(sql)}, e.site_id
      FROM files f
      JOIN engagements e ON e.id = f.engagement_id
     WHERE f.state = 'pending' AND f.deleted_at IS NULL AND f.account_id = ${accountId} AND e.site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY f.created_at, f.id
     LIMIT ${limit} OFFSET ${offset}`;
}

interface SenderFiles {
  readonly engagementId: string;
  readonly ids: readonly string[];
  readonly sender: Side;
}

/**
 * Of these ids, the files that the sender's side uploaded to the engagement. A missing id is unknown or belongs to somebody else. A
 * message may name a file if its `state` is `clean`, which never changes again, and it is not deleted.
 */
export async function filesOfSender(sql: Sql, { engagementId, ids, sender }: SenderFiles) {
  return sql<Pick<FileRow, 'id' | 'state' | 'deleted'>[]>`
    SELECT id, state, deleted_at IS NOT NULL AS deleted
      FROM files
     WHERE id = ANY(${[...ids]}::uuid[]) AND engagement_id = ${engagementId} AND uploaded_by = ${sender}`;
}

/** Those of these files that the sender may send, in the order of `ids`. They cannot be deleted until the transaction ends. */
export async function shareFiles(sql: Sql, { engagementId, ids, sender }: SenderFiles) {
  return sql<Pick<FileRow, 'id' | 'name' | 'content_type'>[]>`
    SELECT f.id, f.name, f.content_type
      FROM files f
     WHERE f.id = ANY(${[...ids]}::uuid[]) AND f.engagement_id = ${engagementId} AND f.uploaded_by = ${sender}
       AND f.state = 'clean' AND f.deleted_at IS NULL
     ORDER BY array_position(${[...ids]}::uuid[], f.id)
       FOR SHARE OF f`;
}

export interface DueFile {
  readonly id: FileId;
  readonly engagement_id: EngagementId;
  readonly scan_attempts: number;
}

/** Claims up to `max` files that nobody is scanning, for `leaseMs`, which exceeds every retry delay. Served by files_pending. */
export async function claimDueFiles(sql: Sql, max: number, leaseMs: number): Promise<DueFile[]> {
  return sql<DueFile[]>`
    UPDATE files
       SET scan_due_at = now() + ${leaseMs} * interval '1 millisecond', scan_attempts = scan_attempts + 1
     WHERE id IN (SELECT id FROM files
                   WHERE state = 'pending' AND deleted_at IS NULL AND ${hasCome(sql, sql`scan_due_at`, leaseMs / 1000)}
                     AND ${isNotMoving(sql, sql`files.account_id`)}
                   ORDER BY scan_due_at
                   LIMIT ${max}
                     FOR UPDATE SKIP LOCKED)
    RETURNING id, engagement_id, scan_attempts`;
}

export async function postponeScan(sql: Sql, id: FileId, delayMs: number): Promise<void> {
  await sql`
    UPDATE files SET scan_due_at = now() + ${delayMs} * interval '1 millisecond' WHERE id = ${id} AND state = 'pending'`;
}

/** `false`: the file already has a result, or is deleted. */
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

/** Infected and deleted files whose bytes may still be stored, after this one. Served by files_to_remove. */
export async function listToRemove(sql: Sql, after: FileId | null, max: number): Promise<FileId[]> {
  const rows = await sql<{ id: FileId }[]>`
    SELECT id
      FROM files
     WHERE stored AND (state = 'infected' OR deleted_at IS NOT NULL)
       AND id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
     ORDER BY id
     LIMIT ${max}`;
  return rows.map(({ id }) => id);
}

/** Which of these files have a row. */
export async function filesWithRow(sql: Sql, ids: readonly FileId[]): Promise<Set<FileId>> {
  const rows = await sql<{ id: FileId }[]>`SELECT id FROM files WHERE id = ANY(${[...ids]}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

export interface FileToMove {
  readonly sha256: Buffer;
  /** The bytes are removed, or will be. */
  readonly isRemoved: boolean;
}

/** Those of these files that have a row. */
export async function filesToMove(sql: Sql, ids: readonly FileId[]): Promise<Map<FileId, FileToMove>> {
  const rows = await sql<({ readonly id: FileId } & FileToMove)[]>`
    SELECT id, sha256, state = 'infected' OR deleted_at IS NOT NULL AS "isRemoved"
      FROM files WHERE id = ANY(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, ...file }) => [id, file]));
}

/** The number of files that wait for a scan, and the age of the oldest. */
export async function measurePending(sql: Sql): Promise<{ count: number; oldestSec: number }> {
  const [row] = await sql<{ count: number; oldestSec: number }[]>`
    SELECT count(*)::integer AS count,
           coalesce(extract(epoch FROM now() - min(created_at)), 0)::double precision AS "oldestSec"
      FROM files
     WHERE state = 'pending' AND deleted_at IS NULL`;
  return row ?? { count: 0, oldestSec: 0 };
}
