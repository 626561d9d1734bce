import { maxConcurrentUploads } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { findSite } from '../../identity/sites/store.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, TypeBoxProvider } from '../../platform/http/http.ts';
import { readKey } from '../../platform/http/idempotency.ts';
import { newId, type EngagementId, type FileId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import { validatorCompiler } from '../../platform/http/validation.ts';
import type { EngagementRow } from '../engagement.ts';
import { partyOf } from '../../identity/party.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { maxFilesInEngagement, uploadOutput } from './file.ts';
import { receiveFile, type ReceivedFile } from './receive-file.ts';
import type { FileService } from './file-service.ts';
import { Slots } from './slots.ts';
import { countFiles, insertFile } from './store.ts';

const summary = 'Upload a file: multipart/form-data with one part, `content`, that has a file name';

/** A file during its upload. Its bytes are stored; its row may not be committed yet. */
interface Upload {
  readonly id: FileId;
  /** The row was inserted. Whether it was committed is known only when the request is answered. */
  isInserted: boolean;
}

/**
 * The body is a file and not JSON, so the route has its own Fastify scope. The file is received before the handler runs, outside the
 * transaction that an Idempotency-Key opens. For comparing requests with the same key, the body is the name, type, size and digest.
 */
export function uploadRoute(app: App, files: FileService): void {
  const uploads = new WeakMap<FastifyRequest, Upload>();
  const slots = new Slots(
    maxConcurrentUploads,
    `You are already uploading ${maxConcurrentUploads} files to this engagement. Wait until one of them has finished.`,
  );
  const content = Type.Unsafe<ReceivedFile>({ type: 'string', format: 'binary' });
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxProvider>();
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(multipart, (_request, _payload, done) => done(null));
    scope.addContentTypeParser('*', (_request, _payload, done) => done(notMultipart()));
    scope.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = async function receiveFirst(request, reply) {
        return withUpload(request, { files, slots }, async (file, received) => {
          uploads.set(request, file);
          request.body = { content: received };
          return handler.call(this, request, reply);
        });
      };
    });

    scope.post(
      '/engagements/:engagement_id/files',
      {
        config: {
          access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
          audit: 'own work',
        },
        // The body schema is only for openapi.json: the body has not been read when the other parts are validated.
        validatorCompiler: (part) => (part.httpPart === 'body' ? () => true : validatorCompiler(part)),
        schema: {
          tags: ['Files'],
          summary,
          description: 'Then send a message that names the file. If a scan is required, wait for its result first.',
          consumes: ['multipart/form-data'],
          params: Type.Object({ engagement_id: uuid<'engagement'>() }),
          body: Type.Object({ content }),
          response: { 200: uploadOutput },
        },
      },
      async (request) => {
        const file = uploads.get(request);
        if (file === undefined) throw new Error('no file was received');
        const { engagement_id: engagementId } = request.params;
        await inTransaction(request.sql, async (sql) => {
          await insert(sql, request, { files, engagementId, id: file.id, received: request.body.content });
          file.isInserted = true;
        });
        return { file_id: file.id, security_scanning_required: files.scanner.kind !== 'none' };
      },
    );
  });
}

const multipart = /^multipart\/form-data\b/i;

function notMultipart(): Refusal {
  return new Refusal('unsupported_media_type', 'Send the file as multipart/form-data, in one part named content.');
}

/**
 * Receives the file and runs `finish`. Afterwards the file is confirmed if its row was committed, and discarded if not. If it is unknown
 * whether the commit succeeded, the mark stays and the sweep decides.
 */
async function withUpload(
  request: FastifyRequest,
  { files, slots }: { readonly files: FileService; readonly slots: Slots },
  finish: (file: Upload, received: ReceivedFile) => Promise<unknown>,
): Promise<unknown> {
  if (!multipart.test(request.headers['content-type'] ?? '')) throw notMultipart();
  const allowed = await checkUpload(request, files);
  const { engagement_id: engagementId } = request.params as { engagement_id: EngagementId };
  const release = slots.take(`${engagementId} ${partyOf(request.caller).id}`);
  const { fileStore } = files;
  const file: Upload = { id: newId<FileId>(), isInserted: false };
  let isCommitUnknown = false;
  let isStored = false;
  try {
    const answer = await finish(file, await receiveFile(request.raw, { fileStore, id: file.id }, allowed));
    isStored = file.isInserted;
    return answer;
  } catch (error) {
    isCommitUnknown = file.isInserted && !(error instanceof Refusal);
    throw error;
  } finally {
    if (isStored) await fileStore.confirm(file.id);
    else if (!isCommitUnknown) await fileStore.discard(file.id);
    release();
    if (isStored) files.onStored();
  }
}

/** Refuses what can be refused before the file is received. Returns the content types that the site allows. */
async function checkUpload(request: FastifyRequest, { scanner }: FileService): Promise<readonly string[]> {
  const { engagement_id: engagementId } = request.params as { engagement_id: EngagementId };
  const engagement = await permittedEngagement(request, engagementId);
  // A request with a key may repeat an upload that succeeded before the engagement ended or reached its limit. This is known only after the file was received.
  const isKeyed = readKey(request) !== null;
  if (!isKeyed) refuseEnded(request, engagement);
  const site = await findSite(request.sql, engagement.site_id);
  if (site === null) throw new Error('the engagement has no site');
  const { kind } = partyOf(request.caller);
  if (!site.allowed_file_senders[kind])
    throw new Refusal('forbidden', `The site does not allow files from ${kind}s (allowed_file_senders).`);
  if (scanner.kind === 'unset') throw new Refusal('no_scanner', 'Uploads are disabled until USHER_SCANNER is set.');
  if (!isKeyed && (await countFiles(request.sql, engagementId)) >= maxFilesInEngagement) throw tooMany();
  return site.allowed_file_content_types;
}

/** Only current participants may upload. */
function refuseEnded(request: FastifyRequest, engagement: EngagementRow): void {
  const { kind, id } = partyOf(request.caller);
  if (engagement.ended_at !== null || (kind === 'operator' && engagement.operator_id !== id))
    throw engagementEnded(engagement);
}

function tooMany(): Refusal {
  return new Refusal('too_many', `An engagement can have at most ${maxFilesInEngagement} files.`);
}

interface ReceivedUpload {
  readonly files: FileService;
  readonly engagementId: EngagementId;
  readonly id: FileId;
  readonly received: ReceivedFile;
}

async function insert(
  sql: Sql,
  request: FastifyRequest,
  { files, engagementId, id, received }: ReceivedUpload,
): Promise<void> {
  const party = partyOf(request.caller);
  // During the upload the engagement may have ended or been transferred, or its operator may have been removed from the site.
  if ((await lockEngaged(sql, accountOf(request), engagementId, party)) === null)
    throw engagementEnded(await permittedEngagement(request, engagementId));
  const isInserted = await insertFile(
    sql,
    {
      id,
      accountId: accountOf(request),
      engagementId,
      uploadedBy: party.kind,
      uploaderId: party.id,
      name: received.name,
      contentType: received.contentType,
      bytes: received.bytes,
      sha256: Buffer.from(received.sha256, 'hex'),
      state: files.scanner.kind === 'none' ? 'clean' : 'pending',
    },
    maxFilesInEngagement,
  );
  if (!isInserted) throw tooMany();
}
