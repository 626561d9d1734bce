import { maxUploadsAtOnce } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { findSite } from '../../identity/sites/store.ts';
import { inTransaction, type Sql } from '../../platform/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, TypeBoxProvider } from '../../platform/http.ts';
import { readKey } from '../../platform/idempotency.ts';
import { newId, type EngagementId, type FileId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import { validatorCompiler } from '../../platform/validation.ts';
import type { EngagementRow } from '../engagement.ts';
import { partyOf } from '../party.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { mostFilesInEngagement, uploadOutput } from './file.ts';
import { receiveFile, type ReceivedFile } from './receive-file.ts';
import type { FileService } from './file-service.ts';
import { Slots } from './slots.ts';
import { countFiles, insertFile } from './store.ts';

const summary = 'Send a file: multipart/form-data with one part, `content`, that has a file name';

/** A file on its way: on the disk, and its row perhaps not yet committed. */
interface Arriving {
  readonly id: FileId;
  /** Its row has been inserted; whether that was committed, only an answer tells. */
  isInserted: boolean;
}

/**
 * The body is a file and not JSON, so the route stands in a scope of its own. Before the handler runs, and outside of any
 * transaction it may run in for its Idempotency-Key, the file is received; for the key, what the request says is the name,
 * type, size and digest of the file.
 */
export function uploadRoute(app: App, room: FileService): void {
  const arriving = new WeakMap<FastifyRequest, Arriving>();
  const slots = new Slots(
    maxUploadsAtOnce,
    `You are sending ${maxUploadsAtOnce} files to this engagement already. Wait until one of them has arrived.`,
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
        return whileArriving(request, { room, slots }, async (file, received) => {
          arriving.set(request, file);
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
        // The body is for the document alone: when the others are validated, it has not been read.
        validatorCompiler: (part) => (part.httpPart === 'body' ? () => true : validatorCompiler(part)),
        schema: {
          tags: ['Files'],
          summary,
          consumes: ['multipart/form-data'],
          params: Type.Object({ engagement_id: uuid<'engagement'>() }),
          body: Type.Object({ content }),
          response: { 200: uploadOutput },
        },
      },
      async (request) => {
        const file = arriving.get(request);
        if (file === undefined) throw new Error('nothing was received');
        const { engagement_id: engagementId } = request.params;
        await inTransaction(request.sql, async (sql) => {
          await insert(sql, request, { room, engagementId, id: file.id, received: request.body.content });
          file.isInserted = true;
        });
        return { file_id: file.id, security_scanning_required: room.scanner.kind !== 'none' };
      },
    );
  });
}

const multipart = /^multipart\/form-data\b/i;

function notMultipart(): Refusal {
  return new Refusal('unsupported_media_type', 'Send the file as multipart/form-data, in one part named content.');
}

/**
 * Receives the file and runs `finish`. Afterwards nothing is left of it, unless its row may be in the database: where that
 * is certain its mark goes, and where a commit was not heard of, the sweep decides.
 */
async function whileArriving(
  request: FastifyRequest,
  { room, slots }: { readonly room: FileService; readonly slots: Slots },
  finish: (file: Arriving, received: ReceivedFile) => Promise<unknown>,
): Promise<unknown> {
  if (!multipart.test(request.headers['content-type'] ?? '')) throw notMultipart();
  const allowed = await refuseUpload(request, room);
  const { engagement_id: engagementId } = request.params as { engagement_id: EngagementId };
  const giveBack = slots.take(`${engagementId} ${partyOf(request).id}`);
  const { disk } = room;
  const file: Arriving = { id: newId<FileId>(), isInserted: false };
  let isDoubtful = false;
  let isStored = false;
  try {
    const answer = await finish(file, await receiveFile(request.raw, { disk, id: file.id }, allowed));
    isStored = file.isInserted;
    return answer;
  } catch (error) {
    isDoubtful = file.isInserted && !(error instanceof Refusal);
    throw error;
  } finally {
    if (isStored) await disk.settle(file.id);
    else if (!isDoubtful) await disk.discard(file.id);
    giveBack();
    if (isStored) room.onStored();
  }
}

/** Everything that can be said before the file has come. Answers which content types the site takes. */
async function refuseUpload(request: FastifyRequest, { scanner }: FileService): Promise<readonly string[]> {
  const { engagement_id: engagementId } = request.params as { engagement_id: EngagementId };
  const engagement = await permittedEngagement(request, engagementId);
  // With a key it may be one that was taken, before the engagement ended or was full: that is told once the file is known.
  const isKeyed = readKey(request) !== null;
  if (!isKeyed) refusePast(request, engagement);
  const site = await findSite(request.sql, engagement.site_id);
  if (site === null) throw new Error('an engagement without a site');
  const { kind } = partyOf(request);
  if (!site.allowed_file_senders[kind])
    throw new Refusal('forbidden', `The site does not take files from ${kind}s (allowed_file_senders).`);
  if (scanner.kind === 'unset')
    throw new Refusal('no_scanner', 'Files are not taken until USHER_SCANNER says who scans them.');
  if (!isKeyed && (await countFiles(request.sql, engagementId)) >= mostFilesInEngagement) throw tooMany();
  return site.allowed_file_content_types;
}

/** Only those who take part now may send. */
function refusePast(request: FastifyRequest, engagement: EngagementRow): void {
  const { kind, id } = partyOf(request);
  if (engagement.ended_at !== null || (kind === 'operator' && engagement.operator_id !== id))
    throw engagementEnded(engagement);
}

function tooMany(): Refusal {
  return new Refusal('too_many', `An engagement may have ${mostFilesInEngagement} files.`);
}

interface Insertion {
  readonly room: FileService;
  readonly engagementId: EngagementId;
  readonly id: FileId;
  readonly received: ReceivedFile;
}

async function insert(
  sql: Sql,
  request: FastifyRequest,
  { room, engagementId, id, received }: Insertion,
): Promise<void> {
  const party = partyOf(request);
  // While the file was coming, the engagement may have ended or passed on, or its operator may have been taken off the site.
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
      state: room.scanner.kind === 'none' ? 'clean' : 'pending',
    },
    mostFilesInEngagement,
  );
  if (!isInserted) throw tooMany();
}
