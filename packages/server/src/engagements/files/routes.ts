import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { findSite } from '../../identity/sites/store.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { uuid } from '../../platform/schema.ts';
import { partyOf } from '../party.ts';
import { permittedEngagement } from '../permitted-engagement.ts';
import { deleteFile } from './delete-file.ts';
import { attachment } from './file-name.ts';
import { acceptedFiles, fileOutput, mostFileBytes, scanInput, type FileRow } from './file.ts';
import { pendingFilesRoute } from './pending-route.ts';
import type { FileService } from './file-service.ts';
import { Slots } from './slots.ts';
import { removeBytes, writeScan } from './settle-scan.ts';
import { findFile, listFiles } from './store.ts';
import { uploadRoute } from './upload-route.ts';

const tags = ['Files'];
const engagementParams = { engagement_id: uuid<'engagement'>() };
const fileParams = { file_id: uuid<'file'>() };
const toRead = { operator: 'operator', visitor: true, site: 'resource', rule: 'took part or manages' } as const;
const bytesOfFile = { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } };

/** Downloads that a caller may have under way at once, in each process. Each holds a file open. */
const mostDownloads = 10;
/** A download of which the client takes nothing for so long, or twice as long (Node looks twice), is cut off. */
const stalledMs = 15_000;

export function fileRoutes(app: App, room: FileService): void {
  uploadRoute(app, room);
  const downloads = new Slots(
    mostDownloads,
    `You are downloading ${mostDownloads} files already. Wait until one of them is done.`,
  );

  app.get(
    '/engagements/:engagement_id/files',
    {
      config: { access: toRead },
      schema: {
        tags,
        summary: 'The files of an engagement and how their scans stand, oldest first',
        params: Type.Object(engagementParams),
        response: { 200: Type.Object({ files: Type.Array(fileOutput), accepts: acceptedFiles }) },
      },
    },
    async (request) => {
      const { id, site_id: siteId } = await permittedEngagement(request, request.params.engagement_id);
      const [files, site] = await Promise.all([listFiles(request.sql, id), findSite(request.sql, siteId)]);
      if (site === null) throw new Error('an engagement without a site');
      const isTaken = site.allowed_file_senders[partyOf(request).kind] && room.scanner.kind !== 'unset';
      const accepts = { content_types: site.allowed_file_content_types, max_bytes: mostFileBytes };
      return { files, accepts: isTaken ? accepts : null };
    },
  );

  app.get(
    '/engagements/:engagement_id/files/:file_id',
    {
      config: { access: toRead },
      schema: {
        tags,
        summary: 'The bytes of a file that was found clean, with its own content type, to be saved and not shown',
        params: Type.Object({ ...engagementParams, ...fileParams }),
        response: { 200: bytesOfFile },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId, file_id: id } = request.params;
      await permittedEngagement(request, engagementId);
      const file = await findFile(request.sql, accountOf(request), id);
      if (file === null || file.engagement_id !== engagementId) throw notFound('file', id);
      return bytesOf(file, { room, downloads }, request, reply);
    },
  );

  deleteRoute(app, room);
  pendingFilesRoute(app);
  scanRoute(app, room);
}

interface Source {
  readonly room: FileService;
  readonly downloads: Slots;
}

async function bytesOf(
  file: FileRow,
  { room: { disk }, downloads }: Source,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (file.deleted) throw fileDeleted(file);
  if (file.state !== 'clean')
    throw new Refusal('file_not_clean', `The file ${file.id} is ${file.state}: ${inWords[file.state]}.`, {
      details: [{ attribute: '/state', detail: file.state }],
    });
  const giveBack = downloads.take(request.caller.key);
  reply.raw.once('close', giveBack).setTimeout(stalledMs, () => reply.raw.destroy());
  // A client that has gone meanwhile closes nothing any more.
  if (reply.raw.closed) giveBack();
  const stored = await disk.open(file.id);
  if (stored === null) throw await whyMissing(request, file);
  reply.headers({
    'content-type': file.content_type.startsWith('text/') ? `${file.content_type}; charset=utf-8` : file.content_type,
    'content-length': file.bytes,
    'content-disposition': attachment(file.name),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'private, no-store',
    etag: `"${file.sha256.toString('hex')}"`,
  });
  if (request.method !== 'HEAD') return stored.createReadStream();
  await stored.close();
  // Of text its length would be told, which is none.
  return Readable.from([]);
}

/** It may have been deleted since it was looked up. */
async function whyMissing({ sql }: FastifyRequest, { account_id: accountId, id }: FileRow): Promise<Refusal> {
  const now = await findFile(sql, accountId, id);
  if (now?.deleted === true) return fileDeleted(now);
  return new Refusal(
    'file_elsewhere',
    'The file is not in the USHER_DATA_DIR of this process. All of them must share it.',
  );
}

function fileDeleted({ id }: FileRow): Refusal {
  return new Refusal('file_deleted', `The file ${id} has been deleted. Its bytes are gone.`);
}

function deleteRoute(app: App, { disk }: FileService): void {
  app.delete(
    '/engagements/:engagement_id/files/:file_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'sent it or manages' },
        audit: { action: 'file.delete', of: Type.Pick(fileOutput, ['deleted']), hides: ['name'], byVisitors: true },
      },
      schema: {
        tags,
        summary: 'Delete a file: its bytes go, downloads are answered with 410, transcripts say deleted',
        description:
          'The side that sent it may while the engagement goes on, a manager of the site at any time. Deleting a deleted file answers 204 too. Events that were sent before say what was true then.',
        params: Type.Object({ ...engagementParams, ...fileParams }),
        response: { 204: Type.Null() },
      },
      // Not in the handler: the bytes go once it is certain that the file is deleted, by the commit.
      onSend: async (request, reply) => {
        if (reply.statusCode === 204) await removeBytes(request.sql, disk, request.params.file_id);
      },
    },
    async (request, reply) => {
      const { before, after } = await deleteFile(request, request.params);
      recordChange(request, { before, after, target: { id: before.id } });
      reply.code(204);
      return null;
    },
  );
}

const inWords = { pending: 'its scan is not over', infected: 'it is never given out' } as const;

function scanRoute(app: App, { disk, scanner, onScan }: FileService): void {
  app.put(
    '/files/:file_id/security_scan',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'file.scan', of: Type.Pick(fileOutput, ['state']), hides: ['name'] },
      },
      schema: {
        tags,
        summary: 'Say what scanning a file has shown, where USHER_SCANNER is manual',
        params: Type.Object(fileParams),
        body: scanInput,
        response: { 200: fileOutput },
      },
      // Not in the handler: the bytes go once it is certain that the file is infected, by the commit.
      onSend: async (request, reply) => {
        const { params, body } = request;
        if (reply.statusCode === 200 && body.result === 'infected')
          await removeBytes(request.sql, disk, params.file_id);
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
        throw new Refusal('scan_not_manual', `USHER_SCANNER is ${scanner.kind}: results are not taken from callers.`);
      const settled = await writeScan(request.sql, { id, engagementId: file.engagement_id, result });
      if (settled !== null) onScan(result);
      const now = await findFile(request.sql, accountOf(request), id);
      if (now?.deleted === true) throw fileDeleted(now);
      if (now?.state === result) {
        recordChange(request, { before: settled === null ? now : file, target: { id } });
        return now;
      }
      throw new Refusal('already_scanned', `The file ${id} was found ${now?.state ?? 'otherwise'} before.`, {
        details: [{ attribute: '/result', detail: `is ${now?.state ?? 'another'} already` }],
      });
    },
  );
}
