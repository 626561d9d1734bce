import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { violatedConstraint } from '../../platform/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { rendered, type App } from '../../platform/http.ts';
import type { EngagementId, FileId } from '../../platform/ids.ts';
import { body, oneOf, uuid } from '../../platform/schema.ts';
import { cleanFiles } from '../files/store.ts';
import { partyOf } from '../party.ts';
import { permitParticipant } from '../permission.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { messageInput, messageOutput, transcriptMessageOutput, type MessageInput, type MessageRow } from './message.ts';
import { acknowledgeMessage, findMessage, putMessage, transcript, type TranscriptRow } from './store.ts';

const tags = ['Messages'];
const access = { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' } as const;
const toRead = { ...access, rule: 'took part or manages' } as const;
const engagementParams = Type.Object({ engagement_id: uuid<'engagement'>() });
const messageParams = Type.Object({ engagement_id: uuid<'engagement'>(), message_id: uuid<'chat_message'>() });

/**
 * `ownUrl` goes before the paths of files; it is known once the server listens. Not the address that the sender has used:
 * whoever reads the message sends a token there, and a sender could name any host.
 */
export function messageRoutes(app: App, ownUrl: () => string): void {
  app.put(
    '/engagements/:engagement_id/chat_messages/:message_id',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Send a message, under an id (UUID v4) that the sender has made: sent again it is the same message',
        params: messageParams,
        body: messageInput,
        response: { 200: messageOutput },
      },
    },
    async (request) => send(request, request.params, request.body, ownUrl),
  );

  app.patch(
    '/engagements/:engagement_id/chat_messages/:message_id',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Say that a message has arrived, as the side it was sent to',
        params: messageParams,
        body: body({ status: oneOf(['delivered'] as const) }),
        response: { 200: messageOutput },
      },
    },
    async (request) => acknowledge(request, request.params),
  );

  app.get(
    '/engagements/:engagement_id/chat_transcript',
    {
      config: { access: toRead },
      schema: {
        tags,
        summary: 'Every message, oldest first; visitors are not shown those of the system',
        params: engagementParams,
        response: { 200: Type.Unsafe<Readable>(Type.Array(transcriptMessageOutput)) },
      },
    },
    async (request, reply) => {
      const { id } = await permittedEngagement(request, request.params.engagement_id);
      const seenBy = request.caller.kind === 'visitor' ? 'visitor' : 'staff';
      reply.type(rendered);
      return Readable.from(jsonArray(transcript(request.sql, id, seenBy)));
    },
  );
}

async function* jsonArray(batches: AsyncIterable<readonly TranscriptRow[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield `${before}${rows.map((row) => JSON.stringify(shown(row))).join(',')}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Without what is kept for us. */
function shown({ account_id: _account, seq: _seq, sender_name: name, ...message }: TranscriptRow): object {
  return { ...message, sender: { ...message.sender, name }, message: message.content };
}

interface Names {
  readonly engagement_id: EngagementId;
  readonly message_id: string;
}

const otherSide = { visitor: 'operator', operator: 'visitor' } as const;
const versionFour = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/;

type FilesAttachment = Extract<MessageInput['attachment'], { type: 'files' }>;

function idsOf({ files }: FilesAttachment): string[] {
  return files.map(({ id }) => id);
}

async function send(
  request: FastifyRequest,
  names: Names,
  input: MessageInput,
  ownUrl: () => string,
): Promise<MessageRow> {
  const { engagement_id: engagementId, message_id: id } = names;
  if (!versionFour.test(id)) throw invalid([{ attribute: '/message_id', detail: 'must be a UUID of version 4' }]);
  const { content, attachment = null, metadata = null, target } = input;
  const from = partyOf(request);
  if (target === from.kind)
    throw invalid([{ attribute: '/target', detail: `must be ${otherSide[from.kind]}, the other side` }]);
  const message = {
    accountId: accountOf(request),
    engagementId,
    id,
    from,
    type: 'chat',
    content,
    attachment,
    metadata,
    chosen: attachment?.type === 'single_choice_response' ? attachment.selected_option : null,
    files:
      attachment?.type === 'files'
        ? { ids: idsOf(attachment), url: `${ownUrl()}/engagements/${engagementId}/files/` }
        : null,
  } as const;
  const sent = await putMessage(request.sql, message).catch((error: unknown) => {
    if (violatedConstraint(error) === 'chat_messages_pkey') return null;
    throw error;
  });
  if (sent === null) return sentBefore(request, names, input);
  permitParticipant(request);
  return sent;
}

/** The same message again is answered as it was; or it is told why it cannot be sent. */
async function sentBefore(request: FastifyRequest, names: Names, input: MessageInput): Promise<MessageRow> {
  const { engagement_id: engagementId, message_id: id } = names;
  const engagement = await permittedEngagement(request, engagementId);
  const { account_id: accountId } = engagement;
  const known = await findMessage(request.sql, { accountId, engagementId, id });
  const { kind, id: senderId } = partyOf(request);
  if (known !== null) {
    if (known.sender.type === kind && known.sender.id === senderId && isSame(known, input)) return known;
    throw new Refusal('message_conflict', `The engagement has another message ${id}. Send this one under a new id.`);
  }
  const { ended_at, operator_id, visitor_id } = engagement;
  if (ended_at !== null || (senderId !== operator_id && senderId !== visitor_id)) throw engagementEnded(engagement);
  if (input.attachment?.type === 'files') return refuseFiles(request, names, idsOf(input.attachment));
  throw invalid([{ attribute: '/attachment/selected_option', detail: 'is none of the options that were offered' }]);
}

/** Says what is wrong with each of them. */
async function refuseFiles(
  request: FastifyRequest,
  { engagement_id: engagementId }: Names,
  ids: readonly string[],
): Promise<never> {
  const { kind: sender } = partyOf(request);
  const known = new Map((await cleanFiles(request.sql, { engagementId, ids, sender })).map((file) => [file.id, file]));
  const at = (index: number): string => `/attachment/files/${index}/id`;
  const foreign = ids.flatMap((id, index) => (known.has(id as FileId) ? [] : [index]));
  if (foreign.length > 0)
    throw invalid(
      foreign.map((index) => ({ attribute: at(index), detail: 'is not a file of the sender in this engagement' })),
    );
  const details = ids.map((id, index) => ({ attribute: at(index), detail: standingOf(known.get(id as FileId)) }));
  const unclean = details.filter(({ detail }) => detail !== 'clean');
  const why = 'Only files that were found clean, and are not deleted, can be sent.';
  throw new Refusal('file_not_clean', why, { details: unclean });
}

function standingOf(file: Awaited<ReturnType<typeof cleanFiles>>[number] | undefined): string {
  return file?.deleted === true ? 'deleted' : (file?.state ?? '');
}

/** Of files their ids are compared, which their addresses end with. */
function isSame(known: MessageRow, { content, attachment = null, metadata = null }: MessageInput): boolean {
  if (attachment?.type === 'files') {
    const { type, files = [] } = (known.attachment ?? {}) as { type?: string; files?: { url: string }[] };
    const ids = files.map(({ url }) => url.slice(-'00000000-0000-4000-8000-000000000000'.length));
    const isSameText = isDeepStrictEqual([known.content, known.metadata], [content, metadata]);
    return type === 'files' && isSameText && isDeepStrictEqual(ids, idsOf(attachment));
  }
  return isDeepStrictEqual([known.content, known.attachment, known.metadata], [content, attachment, metadata]);
}

async function acknowledge(request: FastifyRequest, { engagement_id, message_id: id }: Names): Promise<MessageRow> {
  const { sql } = request;
  const named = { accountId: accountOf(request), engagementId: engagement_id, id };
  const by = partyOf(request);
  const acknowledged = await acknowledgeMessage(sql, { ...named, by });
  permitParticipant(request);
  if (acknowledged !== null) return acknowledged;
  const engagement = await permittedEngagement(request, engagement_id);
  const known = await findMessage(sql, named);
  if (known === null) throw notFound('message', id);
  if (known.target !== by.kind)
    throw new Refusal('forbidden', 'Only the side a message was sent to may say that it has arrived.');
  if (known.status === 'delivered') return known;
  throw engagementEnded(engagement);
}
