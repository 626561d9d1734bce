import { Readable } from 'node:stream';
import { atLeast } from '@usher/contract/roles';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit, permitAs } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { findSite } from '../../identity/sites/store.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import type { EngagementId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import type { EngagementRow } from '../engagement.ts';
import { partyOf } from '../../identity/party.ts';
import { permittedEngagement } from '../permitted-engagement.ts';
import { findEngagement } from '../store.ts';
import { requestedRange } from './byte-range.ts';
import { deleteFile } from './delete-file.ts';
import { attachment } from './file-name.ts';
import { acceptedFiles, fileOutput, maxFileBytes, scanInput, type FileRow } from './file.ts';
import { pendingFilesRoute } from './pending-route.ts';
import type { FileService } from './file-service.ts';
import type { FileStore } from './file-store.ts';
import { Slots } from './slots.ts';
import { removeBytes, writeScan } from './record-scan.ts';
import { findFile, listFiles } from './store.ts';
import { uploadRoute } from './upload-route.ts';

const tags = ['Files'];
const engagementParams = { engagement_id: uuid<'engagement'>() };
const fileParams = { file_id: uuid<'file'>() };
const readAccess = { operator: 'operator', visitor: true, site: 'resource', rule: 'took part or manages' } as const;
const bytesOfFile = { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } };

/** Concurrent downloads per caller and process. Each holds a file open. */
const maxDownloads = 10;
/** A download is aborted if the client reads nothing for this long, or up to twice as long because of how Node checks. */
const stalledMs = 15_000;

export function fileRoutes(app: App, files: FileService): void {
  uploadRoute(app, files);
  const downloads = new Slots(
    maxDownloads,
    `You are already downloading ${maxDownloads} files. Wait until one of them has finished.`,
  );

  app.get(
    '/engagements/:engagement_id/files',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'List the files of an engagement with the state of their scans, oldest first',
        description: 'Only a clean file can be sent in a message and downloaded.',
        params: Type.Object(engagementParams),
        response: { 200: Type.Object({ files: Type.Array(fileOutput), accepts: acceptedFiles }) },
      },
    },
    async (request) => {
      const { id, site_id: siteId } = await permittedEngagement(request, request.params.engagement_id);
      const [rows, site] = await Promise.all([listFiles(request.sql, id), findSite(request.sql, siteId)]);
      if (site === null) throw new Error('the engagement has no site');
      const mayUpload = site.allowed_file_senders[partyOf(request.caller).kind] && files.scanner.kind !== 'unset';
      const accepts = { content_types: site.allowed_file_content_types, max_bytes: maxFileBytes };
      return { files: rows, accepts: mayUpload ? accepts : null };
    },
  );

  app.get(
    '/engagements/:engagement_id/files/:file_id',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'Download a clean file, with its content type, as an attachment',
        description:
          'An infected or unscanned file is 409, a deleted one 410. With the header `Range: bytes=1000-` the rest of the file is answered with 206, to continue a download; `If-Range` with the `ETag` answers the whole file unless it is the same.',
        params: Type.Object({ ...engagementParams, ...fileParams }),
        response: { 200: bytesOfFile, 206: bytesOfFile },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId, file_id: id } = request.params;
      await permittedEngagement(request, engagementId);
      const file = await findFile(request.sql, accountOf(request), id);
      if (file === null || file.engagement_id !== engagementId) throw notFound('file', id);
      return bytesOf(file, { service: files, downloads }, request, reply);
    },
  );

  deleteRoute(app, files);
  pendingFilesRoute(app);
  scanRoute(app, files);
}

interface DownloadContext {
  readonly service: FileService;
  readonly downloads: Slots;
}

async function bytesOf(
  file: FileRow,
  { service: { fileStore }, downloads }: DownloadContext,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (file.deleted) throw fileDeleted(file);
  if (file.state !== 'clean')
    throw new Refusal('file_not_clean', `The file ${file.id} is ${file.state}: ${notCleanReason[file.state]}.`, {
      details: [{ attribute: '/state', detail: file.state }],
    });
  const etag = `"${file.sha256.toString('hex')}"`;
  const { range: wanted, 'if-range': ifRange } = request.headers;
  const isPart = request.method === 'GET';
  const range = isPart ? requestedRange({ range: wanted, ifRange }, { bytes: file.bytes, etag }) : null;
  const release = downloads.take(request.caller.key);
  reply.raw.once('close', release).setTimeout(stalledMs, () => reply.raw.destroy());
  // If the client has disconnected already, no close event follows.
  if (reply.raw.closed) release();
  const stored = await fileStore.open(file.id, range);
  if (stored === null) throw await missingBytes(request, file, fileStore);
  reply.code(range === null ? 200 : 206).headers({
    'content-type': file.content_type.startsWith('text/') ? `${file.content_type}; charset=utf-8` : file.content_type,
    'content-length': range === null ? file.bytes : range.end - range.start + 1,
    ...(range !== null && { 'content-range': `bytes ${range.start}-${range.end}/${file.bytes}` }),
    'accept-ranges': 'bytes',
    'content-disposition': attachment(file.name),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'private, no-store',
    etag,
  });
  if (request.method !== 'HEAD') return stored.createReadStream();
  await stored.close();
  // Not '', for which Fastify would send a content-length of 0.
  return Readable.from([]);
}

/** Says why the bytes are missing: the file may have been deleted after its row was read. */
async function missingBytes(
  { sql }: FastifyRequest,
  { account_id: accountId, id }: FileRow,
  fileStore: FileStore,
): Promise<Refusal> {
  const now = await findFile(sql, accountId, id);
  if (now?.deleted === true) return fileDeleted(now);
  return fileStore.missing(id);
}

function fileDeleted({ id }: FileRow): Refusal {
  return new Refusal('file_deleted', `The file ${id} was deleted.`);
}

function deleteRoute(app: App, { fileStore }: FileService): void {
  app.delete(
    '/engagements/:engagement_id/files/:file_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'sent it or manages' },
        audit: { action: 'file.delete', of: Type.Pick(fileOutput, ['deleted']), hides: ['name'], byVisitors: true },
      },
      schema: {
        tags,
        summary: 'Delete a file: its bytes are removed, downloads answer 410, transcripts show it as deleted',
        description:
          'The side that sent the file may delete it while the engagement is active, a manager of the site at any time. Deleting a deleted file answers 204 too. Events sent before do not change.',
        params: Type.Object({ ...engagementParams, ...fileParams }),
        response: { 204: Type.Null() },
      },
      // Not in the handler: the bytes are removed only after the deletion is committed.
      onSend: async (request, reply) => {
        if (reply.statusCode === 204) await removeBytes(request.sql, fileStore, request.params.file_id);
      },
    },
    async (request, reply) => {
      const { engagement_id, file_id: fileId } = request.params;
      const found = await engagementToDeleteFrom(request, engagement_id);
      const { before, after } = await deleteFile(request.sql, { ...found, fileId, by: partyOf(request.caller) });
      recordChange(request, { before, after, target: { id: before.id } });
      reply.code(204);
      return null;
    },
  );
}

/** A manager of the site may delete files of both sides, also after the engagement has ended. */
async function engagementToDeleteFrom(
  request: FastifyRequest,
  id: EngagementId,
): Promise<{ readonly engagement: EngagementRow; readonly isManager: boolean }> {
  const { caller } = request;
  const found = await findEngagement(request.sql, accountOf(request), id);
  const role = found === null || caller.kind !== 'operator' ? undefined : caller.roles.get(found.site_id);
  if (found === null || role === undefined || !atLeast(role, 'manager'))
    return { engagement: await permittedEngagement(request, id), isManager: false };
  permitAs(request, 'sent it or manages');
  return { engagement: found, isManager: true };
}

const notCleanReason = { pending: 'its scan has not finished', infected: 'it cannot be downloaded' } as const;

function scanRoute(app: App, { fileStore, scanner, onScan }: FileService): void {
  app.put(
    '/files/:file_id/security_scan',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'file.scan', of: Type.Pick(fileOutput, ['state']), hides: ['name'] },
      },
      schema: {
        tags,
        summary: 'Set the result of a security scan, if USHER_SCANNER is manual',
        description: 'A clean file can be sent and downloaded. The bytes of an infected one are removed.',
        params: Type.Object(fileParams),
        body: scanInput,
        response: { 200: fileOutput },
      },
      // Not in the handler: the bytes are removed only after the result is committed.
      onSend: async (request, reply) => {
        const { params, body } = request;
        if (reply.statusCode === 200 && body.result === 'infected')
          await removeBytes(request.sql, fileStore, params.file_id);
      },
    },
    async (request) => {
      const { file_id: id } = request.params;
      const { result } = request.body;
      const file = await findFile(request.sql, accountOf(request), id);
      if (file === null) throw notFound('file', id);
      permit(request, file, 'file');
      if (file.deleted) throw fileDeleted(file);
      if (scanner.kind !== 'manual')
        throw new Refusal(
          'scan_not_manual',
          `Scan results can be set only if USHER_SCANNER is manual; it is ${scanner.kind}.`,
        );
      const recorded = await writeScan(request.sql, { id, engagementId: file.engagement_id, result });
      if (recorded !== null) onScan(result);
      const now = await findFile(request.sql, accountOf(request), id);
      if (now?.deleted === true) throw fileDeleted(now);
      if (now?.state === result) {
        recordChange(request, { before: recorded === null ? now : file, target: { id } });
        return now;
      }
      throw new Refusal(
        'already_scanned',
        `The file ${id} was already scanned, with another result: ${now?.state ?? 'unknown'}.`,
        {
          details: [{ attribute: '/result', detail: `is already ${now?.state ?? 'another'}` }],
        },
      );
    },
  );
}
