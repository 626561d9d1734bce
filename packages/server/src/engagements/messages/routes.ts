import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { rendered, type App } from '../../platform/http/http.ts';
import type { EngagementId, FileId } from '../../platform/ids.ts';
import { body, oneOf, uuid } from '../../platform/schema.ts';
import { filesOfSender } from '../files/store.ts';
import { partyOf } from '../../identity/party.ts';
import { permitParticipant } from '../permission.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import {
  arrangeAttachment,
  messageInput,
  messageOutput,
  transcriptMessageOutput,
  type MessageInput,
  type MessageRow,
} from './message.ts';
import type { Messages } from './messages.ts';
import { findMessage, transcript, type TranscriptRow } from './store.ts';

const tags = ['Messages'];
const access = { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' } as const;
const readAccess = { ...access, rule: 'took part or manages' } as const;
const engagementParams = Type.Object({ engagement_id: uuid<'engagement'>() });
const messageParams = Type.Object({ engagement_id: uuid<'engagement'>(), message_id: uuid<'chat_message'>() });

/**
 * `ownUrl` is the base of file URLs; it is known once the server listens. The Host header of the sender is not used: readers of
 * the message send their token to the URL, and a sender could name any host.
 */
export function messageRoutes(app: App, messages: Messages, ownUrl: () => string): void {
  app.put(
    '/engagements/:engagement_id/chat_messages/:message_id',
    {
      config: { access, sendsOwnHint: true, audit: 'own work' },
      schema: {
        tags,
        summary: 'Send a message under an id (UUID v4) that the sender chooses. Sending it again has no effect',
        description:
          'So a message can be sent again safely if the answer was lost. The same id with other content is 409.',
        params: messageParams,
        body: messageInput,
        response: { 200: messageOutput },
      },
    },
    async (request) => send(request, request.params, request.body, { messages, ownUrl }),
  );

  app.patch(
    '/engagements/:engagement_id/chat_messages/:message_id',
    {
      config: { access, sendsOwnHint: true, audit: 'own work' },
      schema: {
        tags,
        summary: 'Acknowledge a message, as the side it was sent to',
        description: "The sender's webhooks are sent the status event, once. Acknowledging again has no effect.",
        params: messageParams,
        body: body({ status: oneOf(['delivered'] as const) }),
        response: { 200: messageOutput },
      },
    },
    async (request) => acknowledge(request, request.params, messages),
  );

  app.get(
    '/engagements/:engagement_id/chat_transcript',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'All messages, oldest first. Visitors do not see system messages',
        description:
          'With the names that the senders have now. Files have URLs, which need the same permission as the transcript.',
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
    yield `${before}${rows.map((row) => JSON.stringify(showMessage(row))).join(',')}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Leaves out the internal columns. */
function showMessage({ account_id: _account, seq: _seq, sender_name: name, ...message }: TranscriptRow): object {
  return { ...message, sender: { ...message.sender, name }, message: message.content };
}

interface MessageParams {
  readonly engagement_id: EngagementId;
  readonly message_id: MessageRow['id'];
}

const otherSide = { visitor: 'operator', operator: 'visitor' } as const;
const versionFour = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/;

type FilesAttachment = Extract<MessageInput['attachment'], { type: 'files' }>;

function idsOf({ files }: FilesAttachment): string[] {
  return files.map(({ id }) => id);
}

async function send(
  request: FastifyRequest,
  params: MessageParams,
  input: MessageInput,
  { messages, ownUrl }: { readonly messages: Messages; readonly ownUrl: () => string },
): Promise<MessageRow> {
  const { engagement_id: engagementId, message_id: id } = params;
  if (!versionFour.test(id)) throw invalid([{ attribute: '/message_id', detail: 'must be a UUID v4' }]);
  const { content, attachment = null, metadata = null, target } = input;
  const by = partyOf(request.caller);
  if (target === by.kind)
    throw invalid([
      { attribute: '/target', detail: `must be ${otherSide[by.kind]}: the message goes to the other side` },
    ]);
  const message = {
    accountId: accountOf(request),
    engagementId,
    id,
    by,
    type: 'chat',
    content,
    attachment: arrangeAttachment(attachment),
    metadata,
    chosen: attachment?.type === 'single_choice_response' ? attachment.selected_option : null,
    files:
      attachment?.type === 'files'
        ? { ids: idsOf(attachment), url: `${ownUrl()}/engagements/${engagementId}/files/` }
        : null,
  } as const;
  const sent = await messages.send(request.sql, message);
  if (sent === null) return previouslySent(request, params, input);
  permitParticipant(request);
  return sent;
}

/** For a message that was not stored: returns the same message if it was sent before, otherwise says why it is refused. */
async function previouslySent(
  request: FastifyRequest,
  params: MessageParams,
  input: MessageInput,
): Promise<MessageRow> {
  const { engagement_id: engagementId, message_id: id } = params;
  const engagement = await permittedEngagement(request, engagementId);
  const { account_id: accountId } = engagement;
  const stored = await findMessage(request.sql, { accountId, engagementId, id });
  const { kind, id: senderId } = partyOf(request.caller);
  if (stored !== null) {
    if (stored.sender.type === kind && stored.sender.id === senderId && isSame(stored, input)) return stored;
    throw new Refusal(
      'message_conflict',
      `The engagement already has another message with the id ${id}. Send this one under a new id.`,
    );
  }
  const { ended_at, operator_id, visitor_id } = engagement;
  if (ended_at !== null || (senderId !== operator_id && senderId !== visitor_id)) throw engagementEnded(engagement);
  if (input.attachment?.type === 'files') return refuseFiles(request, params, idsOf(input.attachment));
  throw invalid([{ attribute: '/attachment/selected_option', detail: 'is not one of the options that were offered' }]);
}

/** Refuses the message with what is wrong with each file. */
async function refuseFiles(
  request: FastifyRequest,
  { engagement_id: engagementId }: MessageParams,
  ids: readonly string[],
): Promise<never> {
  const { kind: sender } = partyOf(request.caller);
  const filesById = new Map(
    (await filesOfSender(request.sql, { engagementId, ids, sender })).map((file) => [file.id, file]),
  );
  const at = (index: number): string => `/attachment/files/${index}/id`;
  const foreign = ids.flatMap((id, index) => (filesById.has(id as FileId) ? [] : [index]));
  if (foreign.length > 0)
    throw invalid(
      foreign.map((index) => ({
        attribute: at(index),
        detail: 'is not a file that the sender uploaded to this engagement',
      })),
    );
  const details = ids.map((id, index) => ({ attribute: at(index), detail: fileState(filesById.get(id as FileId)) }));
  const unclean = details.filter(({ detail }) => detail !== 'clean');
  const why = 'Only clean files that are not deleted can be sent.';
  throw new Refusal('file_not_clean', why, { details: unclean });
}

function fileState(file: Awaited<ReturnType<typeof filesOfSender>>[number] | undefined): string {
  return file?.deleted === true ? 'deleted' : (file?.state ?? '');
}

/** Files are compared by their ids, which are at the end of their URLs. */
function isSame(stored: MessageRow, { content, attachment = null, metadata = null }: MessageInput): boolean {
  if (attachment?.type === 'files') {
    const { type, files = [] } = (stored.attachment ?? {}) as { type?: string; files?: { url: string }[] };
    const ids = files.map(({ url }) => url.slice(-'00000000-0000-4000-8000-000000000000'.length));
    const isSameText = isDeepStrictEqual([stored.content, stored.metadata], [content, metadata]);
    return type === 'files' && isSameText && isDeepStrictEqual(ids, idsOf(attachment));
  }
  return isDeepStrictEqual([stored.content, stored.attachment, stored.metadata], [content, attachment, metadata]);
}

async function acknowledge(
  request: FastifyRequest,
  { engagement_id, message_id: id }: MessageParams,
  messages: Messages,
): Promise<MessageRow> {
  const { sql } = request;
  const ids = { accountId: accountOf(request), engagementId: engagement_id, id };
  const by = partyOf(request.caller);
  const acknowledged = await messages.acknowledge(sql, { ...ids, by });
  permitParticipant(request);
  if (acknowledged !== null) return acknowledged;
  const engagement = await permittedEngagement(request, engagement_id);
  const stored = await findMessage(sql, ids);
  if (stored === null) throw notFound('message', id);
  if (stored.target !== by.kind)
    throw new Refusal('forbidden', 'Only the side that a message was sent to may acknowledge it.');
  if (stored.status === 'delivered') return stored;
  throw engagementEnded(engagement);
}
