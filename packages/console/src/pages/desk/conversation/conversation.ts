import type { ChatMessage, CompletedTransfer, Engagement, File, MediaUpgradeRequest } from '@usher/sdk/api-types';
import { isOutdated, mergeUpgrades } from '@usher/client/overtaken-reads';

/** The state of the desk as plain data: feed items and reads go in, the views of the desk come out. */

export interface Message {
  readonly id: string;
  readonly engagement_id: string;
  readonly sub_engagement_id: string;
  readonly timestamp: string;
  readonly content: string;
  readonly status: 'sent' | 'delivered';
  readonly sender: { readonly type: ChatMessage['sender']['type'] };
  readonly target: ChatMessage['target'];
  readonly type: ChatMessage['type'];
  readonly attachment: unknown;
  readonly metadata?: unknown;
}

/**
 * A message of the operator that is not in the transcript yet. `sent`: the server accepted it, and the feed has not reported it.
 */
export interface Outgoing {
  readonly id: string;
  readonly content: string;
  readonly attachment: SentAttachment | null;
  readonly at: string;
  readonly state: 'sending' | 'waiting' | 'refused' | 'sent';
  readonly problem: string | null;
}

export type SentAttachment =
  | { readonly type: 'single_choice'; readonly options: readonly { readonly text: string; readonly value: string }[] }
  | { readonly type: 'files'; readonly files: readonly { readonly id: string }[] };

/** A pending transfer. */
export interface Transfer {
  readonly kind: 'request' | 'ticket';
  readonly id: string;
  /** The id of the operator or queue. */
  readonly to: string;
}

/**
 *   open         active and assigned to this operator; `transfer` is the pending transfer, if there is one
 *   transferred  active and assigned to a colleague
 *   ended        the engagement has ended
 *
 *                engagement is ours  is a colleague's  has ended  engagement.transfer to a colleague
 *   open         –                   transferred       ended      transferred
 *   transferred  open                –                 ended      –
 *   ended        –                   –                 –          –
 */
type Stage = { readonly name: 'open'; readonly transfer: Transfer | null } | { readonly name: 'transferred' | 'ended' };

export interface Conversation {
  readonly id: string;
  readonly engagement: Engagement;
  readonly stage: Stage;
  /** Whether the transcript has been read, in any stage: the feed may report messages and the end earlier. */
  readonly isRead: boolean;
  /** In the order of the server. */
  readonly messages: readonly Message[];
  readonly outgoing: readonly Outgoing[];
  readonly typing: { readonly isOn: boolean; readonly clock: number; readonly at: number };
  readonly files: readonly File[];
  /** Newest first. */
  readonly upgrades: readonly MediaUpgradeRequest[];
  /** The transfers from operator to operator, oldest first. */
  readonly transfers: readonly CompletedTransfer[];
}

export interface Conversations {
  /** Whether the list has been read. */
  readonly isRead: boolean;
  readonly byId: ReadonlyMap<string, Conversation>;
  /** Scan results by file. The feed may report a result before the list of files shows the file as pending. */
  readonly scans: ReadonlyMap<string, Scan>;
}

type ScanResult = 'clean' | 'infected';
/** The fields of a file that a scan changes. A clean file without `scanned_at` was accepted by a server without a scanner. */
type Scan = Pick<File, 'state' | 'scanned_at'>;

export const noConversations: Conversations = { isRead: false, byId: new Map(), scans: new Map() };

/** A typing indicator expires after this time without renewal. */
export const typingMs = 10_000;

export type Change =
  | { readonly type: 'listed' }
  /** `isRead`: from a read, and on the desk even if it has ended. Otherwise from the feed. */
  | { readonly type: 'engagement'; readonly engagement: Engagement; readonly me: string; readonly isRead?: boolean }
  | { readonly type: 'transferred'; readonly id: string; readonly at: string }
  | { readonly type: 'dismissed'; readonly id: string }
  | { readonly type: 'transcript'; readonly id: string; readonly messages: readonly Message[] }
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'delivered'; readonly id: string; readonly messageId: string }
  | {
      readonly type: 'typing';
      readonly id: string;
      readonly isOn: boolean;
      readonly clock: number;
      readonly at: number;
    }
  | { readonly type: 'files'; readonly id: string; readonly files: readonly File[] }
  | { readonly type: 'file'; readonly file: File }
  | { readonly type: 'scanned'; readonly fileId: string; readonly result: ScanResult; readonly at: string }
  | { readonly type: 'upgrades'; readonly id: string; readonly upgrades: readonly MediaUpgradeRequest[] }
  | { readonly type: 'upgrade'; readonly upgrade: MediaUpgradeRequest }
  | { readonly type: 'transfer'; readonly id: string; readonly transfer: Transfer | null }
  | { readonly type: 'transfers'; readonly id: string; readonly transfers: readonly CompletedTransfer[] }
  | { readonly type: 'outgoing'; readonly id: string; readonly outgoing: readonly Outgoing[] }
  | { readonly type: 'sending'; readonly id: string; readonly outgoing: Outgoing }
  | { readonly type: 'discarded'; readonly id: string; readonly messageId: string };

export function reduce(state: Conversations, change: Change): Conversations {
  switch (change.type) {
    case 'listed':
      return { ...state, isRead: true };
    case 'engagement':
      return applyEngagement(state, change);
    case 'dismissed': {
      const byId = new Map(state.byId);
      return byId.delete(change.id) ? { ...state, byId } : state;
    }
    case 'scanned':
      return applyScan(state, change.fileId, { state: change.result, scanned_at: change.at });
    case 'files':
      return update(state, change.id, (before) => applyFiles(before, change.files, state.scans));
    case 'file':
      return update(state, change.file.engagement_id, (before) => applyDeletedFile(before, change.file));
    case 'message':
      return update(state, change.message.engagement_id, (before) => applyMessage(before, change.message));
    case 'upgrade':
      return update(state, change.upgrade.engagement_id, (before) => applyUpgrade(before, change.upgrade));
    default:
      return update(state, change.id, (before) => applyChange(before, change));
  }
}

type ConversationChange = Exclude<
  Change,
  { readonly type: 'listed' | 'engagement' | 'dismissed' | 'file' | 'files' | 'scanned' | 'message' | 'upgrade' }
>;

function applyChange(before: Conversation, change: ConversationChange): Conversation {
  switch (change.type) {
    case 'transferred':
      return {
        ...before,
        engagement: { ...before.engagement, updated_at: change.at },
        stage: before.stage.name === 'open' ? { name: 'transferred' } : before.stage,
      };
    case 'transcript':
      return applyTranscript(before, change.messages);
    case 'delivered':
      return applyDelivery(before, change.messageId);
    case 'typing': {
      const { isOn, clock, at } = change;
      return clock <= before.typing.clock ? before : { ...before, typing: { isOn, clock, at } };
    }
    case 'upgrades':
      return { ...before, upgrades: mergeUpgrades(before.upgrades, change.upgrades) };
    case 'transfer':
      return before.stage.name === 'open' ? { ...before, stage: { name: 'open', transfer: change.transfer } } : before;
    case 'transfers':
      return { ...before, transfers: change.transfers };
    case 'outgoing':
      return { ...before, outgoing: notInTranscript(change.outgoing, before.messages) };
    case 'sending':
      return applyOutgoing(before, change.outgoing);
    case 'discarded':
      return { ...before, outgoing: before.outgoing.filter(({ id }) => id !== change.messageId) };
  }
}

function update(state: Conversations, id: string, change: (before: Conversation) => Conversation): Conversations {
  const before = state.byId.get(id);
  if (before === undefined) return state;
  const after = change(before);
  return after === before ? state : { ...state, byId: new Map(state.byId).set(id, after) };
}

type EngagementChange = Extract<Change, { readonly type: 'engagement' }>;

/** Adds active engagements of this operator; others matter only if they were this operator's. */
function applyEngagement(state: Conversations, { engagement, me, isRead = false }: EngagementChange): Conversations {
  const before = state.byId.get(engagement.id);
  if (isRead && isOutdated(engagement, before?.engagement ?? null)) return state;
  const stage = stageOf(engagement, me, before);
  if (before === undefined && stage.name !== 'open' && !isRead) return state;
  const after = before === undefined ? newConversation(engagement, stage) : { ...before, engagement, stage };
  return { ...state, byId: new Map(state.byId).set(engagement.id, after) };
}

function stageOf({ operator_id: by, state }: Engagement, me: string, before: Conversation | undefined): Stage {
  if (state !== 'active') return { name: 'ended' };
  if (by !== me) return { name: 'transferred' };
  return before?.stage.name === 'open' ? before.stage : { name: 'open', transfer: null };
}

function newConversation(engagement: Engagement, stage: Stage): Conversation {
  return {
    id: engagement.id,
    engagement,
    stage,
    isRead: false,
    messages: [],
    outgoing: [],
    typing: { isOn: false, clock: 0, at: 0 },
    files: [],
    upgrades: [],
    transfers: [],
  };
}

/** The feed reports messages in the order of the server; a known message is ignored. */
function applyMessage(before: Conversation, message: Message): Conversation {
  if (before.messages.some(({ id }) => id === message.id)) return removeOutgoing(before, message.id);
  const { typing } = before;
  return {
    ...removeOutgoing(before, message.id),
    messages: [...before.messages, message],
    typing: message.sender.type === 'visitor' ? { ...typing, isOn: false } : typing,
  };
}

function removeOutgoing(before: Conversation, messageId: string): Conversation {
  const outgoing = before.outgoing.filter(({ id }) => id !== messageId);
  return outgoing.length === before.outgoing.length ? before : { ...before, outgoing };
}

/** Messages from the feed that the transcript does not have yet are newer than all of it. A delivered message stays delivered. */
function applyTranscript(before: Conversation, read: readonly Message[]): Conversation {
  const previous = new Map(before.messages.map((message) => [message.id, message]));
  const ids = new Set(read.map(({ id }) => id));
  const messages = [
    ...read.map((message) => (previous.get(message.id)?.status === 'delivered' ? asDelivered(message) : message)),
    ...before.messages.filter(({ id }) => !ids.has(id)),
  ];
  return { ...before, isRead: true, messages, outgoing: notInTranscript(before.outgoing, messages) };
}

function notInTranscript(outgoing: readonly Outgoing[], messages: readonly Message[]): readonly Outgoing[] {
  const ids = new Set(messages.map(({ id }) => id));
  return outgoing.filter(({ id }) => !ids.has(id));
}

function asDelivered(message: Message): Message {
  return message.status === 'delivered' ? message : { ...message, status: 'delivered' };
}

function applyDelivery(before: Conversation, messageId: string): Conversation {
  const index = before.messages.findIndex(({ id }) => id === messageId);
  const message = before.messages[index];
  if (message === undefined || message.status === 'delivered') return before;
  return { ...before, messages: before.messages.with(index, asDelivered(message)) };
}

/** Adds an outgoing message, or replaces it in its position. */
function applyOutgoing(before: Conversation, outgoing: Outgoing): Conversation {
  if (before.messages.some(({ id }) => id === outgoing.id)) return removeOutgoing(before, outgoing.id);
  const index = before.outgoing.findIndex(({ id }) => id === outgoing.id);
  return {
    ...before,
    outgoing: index === -1 ? [...before.outgoing, outgoing] : before.outgoing.with(index, outgoing),
  };
}

function applyUpgrade(before: Conversation, upgrade: MediaUpgradeRequest): Conversation {
  const previous = before.upgrades.find(({ id }) => id === upgrade.id);
  // An answer may arrive before its request.
  if (previous !== undefined && previous.state !== 'pending' && upgrade.state === 'pending') return before;
  const others = before.upgrades.filter(({ id }) => id !== upgrade.id);
  const upgrades = [upgrade, ...others].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return { ...before, upgrades };
}

/** During the read of the list the feed may have reported scan results and deletions. */
function applyFiles(before: Conversation, read: readonly File[], scans: ReadonlyMap<string, Scan>): Conversation {
  const deleted = new Map(before.files.filter((file) => file.deleted).map((file) => [file.id, file]));
  const readIds = new Set(read.map(({ id }) => id));
  const files = read.map((file) => deleted.get(file.id) ?? { ...file, ...scans.get(file.id) });
  return { ...before, files: [...files, ...before.files.filter(({ id }) => !readIds.has(id))] };
}

/** Marks a deleted file in every message that has it. */
function applyDeletedFile(before: Conversation, file: File): Conversation {
  if (!file.deleted) return before;
  return {
    ...before,
    files: before.files.map((previous) => (previous.id === file.id ? file : previous)),
    messages: before.messages.map((message) => {
      const attachment = withDeleted(message.attachment, file.id);
      return attachment === message.attachment ? message : { ...message, attachment };
    }),
  };
}

/** The URL of a file ends with its id. */
function withDeleted(attachment: unknown, fileId: string): unknown {
  const { type, files } = (attachment ?? {}) as { type?: unknown; files?: unknown };
  if (type !== 'files' || !Array.isArray(files)) return attachment;
  const sent = files as readonly { readonly url: string }[];
  if (!sent.some(({ url }) => url.endsWith(fileId))) return attachment;
  return { type, files: sent.map((each) => (each.url.endsWith(fileId) ? { ...each, deleted: true } : each)) };
}

function applyScan(before: Conversations, fileId: string, scan: Scan): Conversations {
  const state = { ...before, scans: new Map(before.scans).set(fileId, scan) };
  const owner = [...state.byId.values()].find(({ files }) => files.some(({ id }) => id === fileId));
  if (owner === undefined) return state;
  const files = owner.files.map((file) => (file.id === fileId ? { ...file, ...scan } : file));
  return update(state, owner.id, (conversation) => ({ ...conversation, files }));
}
