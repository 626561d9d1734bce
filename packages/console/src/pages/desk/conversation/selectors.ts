import type { File, MediaUpgradeRequest } from '@usher/sdk/api-types';
import { isCall } from '@usher/contract/media';
import { typingMs, type Conversation, type Conversations, type Message, type Transfer } from './conversation.ts';

/** Derived values of a conversation. */

/** Whether the conversation is active and assigned to this operator. */
export function isOpen({ stage }: Pick<Conversation, 'stage'>): boolean {
  return stage.name === 'open';
}

/** The pending transfer of the conversation. */
export function transferOf({ stage }: Pick<Conversation, 'stage'>): Transfer | null {
  return stage.name === 'open' ? stage.transfer : null;
}

/** The number of unread messages of the visitor. */
export function unreadOf({ messages }: Conversation): number {
  return messages.filter(({ sender, status }) => sender.type === 'visitor' && status === 'sent').length;
}

/** Since when the visitor waits for an answer; `null` if they do not. During a call nobody waits in the chat. */
export function waitingSince(chat: Conversation): string | null {
  const { messages, outgoing, engagement } = chat;
  if (!isOpen(chat) || outgoing.length > 0 || callMedia(chat) !== null) return null;
  const lastCallEndedAt = engagement.calls.findLast(({ connected_at }) => connected_at !== null)?.ended_at ?? '';
  const chatMessages = messages.filter(({ type }) => type === 'chat');
  const answered = chatMessages.findLastIndex(
    ({ sender, timestamp }) => sender.type === 'operator' || timestamp <= lastCallEndedAt,
  );
  return chatMessages[answered + 1]?.timestamp ?? null;
}

/** The active call, as stored by the server. */
export function openCallId({ engagement: { calls } }: Pick<Conversation, 'engagement'>): string | null {
  return calls.findLast(({ ended_at }) => ended_at === null)?.id ?? null;
}

export function isTyping(chat: Conversation, now: number): boolean {
  return isOpen(chat) && chat.typing.isOn && now - chat.typing.at < typingMs;
}

export function pendingUpgrade(chat: Conversation): MediaUpgradeRequest | null {
  return isOpen(chat) ? (chat.upgrades.find(({ state }) => state === 'pending') ?? null) : null;
}

/** The current audio and video; `null` if the engagement is not a call. */
export function callMedia({
  engagement,
  upgrades,
}: Conversation): { readonly audio: 'two_way' | null; readonly video: 'one_way' | 'two_way' | null } | null {
  if (!isCall(engagement.media)) return null;
  const accepted = upgrades.find(({ state }) => state === 'accepted');
  if (accepted !== undefined && (accepted.video !== null) === (engagement.media === 'video'))
    return { audio: accepted.audio, video: accepted.video };
  return { audio: 'two_way', video: engagement.media === 'video' ? 'two_way' : null };
}

/** Why a conversation cannot become a call now (D4.4): another call or invitation, or other chats if the site allows no calls then. */
export type CallObstacle = 'otherCall' | 'otherInvitation' | 'otherChats';

export function callObstacle(
  chat: Conversation,
  { byId }: Conversations,
  site: { readonly calls_beside_chats: boolean } | undefined,
): CallObstacle | null {
  if (chat.engagement.media !== 'text') return null;
  const others = [...byId.values()].filter((each) => each.id !== chat.id && isOpen(each));
  if (others.some(({ engagement }) => engagement.media !== 'text')) return 'otherCall';
  if (others.some((each) => pendingUpgrade(each)?.target === 'visitor')) return 'otherInvitation';
  return site?.calls_beside_chats === false && others.length > 0 ? 'otherChats' : null;
}

/** Active conversations first, then ended ones; each in the order they began. */
export function sortedConversations({ byId }: Conversations): readonly Conversation[] {
  return [...byId.values()].toSorted(
    (a, b) =>
      Number(isOpen(b)) - Number(isOpen(a)) ||
      (a.engagement.started_at < b.engagement.started_at ? -1 : 1) ||
      (a.id < b.id ? -1 : 1),
  );
}

/** The next or previous conversation, for the shortcut; wraps around. */
export function adjacentId(order: readonly Conversation[], id: string | null, by: 1 | -1): string | null {
  const at = order.findIndex((each) => each.id === id);
  if (at === -1) return order.at(by === 1 ? 0 : -1)?.id ?? null;
  return order[(at + by + order.length) % order.length]?.id ?? null;
}

/** The last message, as shown in the list. */
export function lastChatMessage({ messages }: Conversation): Message | null {
  return messages.findLast(({ type }) => type === 'chat') ?? null;
}

interface SentFile {
  readonly id: string;
  readonly name: string;
  readonly deleted: boolean;
}

const uuidLength = 36;

/** The URL of a file ends with its id. */
export function filesOf(attachment: unknown): readonly SentFile[] {
  const { type, files } = (attachment ?? {}) as { type?: unknown; files?: unknown };
  if (type !== 'files' || !Array.isArray(files)) return [];
  return (files as { url: string; name: string; deleted: boolean }[]).map(({ url, name, deleted }) => ({
    id: url.slice(-uuidLength),
    name,
    deleted,
  }));
}

/** Uploaded files of this operator that were not sent with a message. */
export function stagedFiles(
  { files, messages, outgoing }: Conversation,
  me: string,
  dismissed: readonly string[],
): readonly File[] {
  const excluded = new Set([
    ...dismissed,
    ...messages.flatMap(({ attachment }) => filesOf(attachment).map(({ id }) => id)),
    ...outgoing.flatMap(({ attachment }) => (attachment?.type === 'files' ? attachment.files.map(({ id }) => id) : [])),
  ]);
  return files.filter(({ id, uploader_id: by, deleted }) => by === me && !deleted && !excluded.has(id));
}

interface Card {
  readonly image: string | null;
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

export function cardOf(attachment: unknown): Card | null {
  const { type, options, image_url: image } = (attachment ?? {}) as Record<string, unknown>;
  if (type !== 'single_choice' || !Array.isArray(options)) return null;
  return { image: typeof image === 'string' ? image : null, options: options as Card['options'] };
}

function choiceOf(attachment: unknown): string | null {
  const { type, selected_option: chosen } = (attachment ?? {}) as Record<string, unknown>;
  return type === 'single_choice_response' && typeof chosen === 'string' ? chosen : null;
}

/** The chosen option of a card: the first later message that is one of its options. */
export function chosenFrom(messages: readonly Message[], card: Message): string | null {
  const options = cardOf(card.attachment)?.options ?? [];
  const after = messages.slice(messages.findIndex(({ id }) => id === card.id) + 1);
  const values = new Set(options.map(({ value }) => value));
  return (
    after.map(({ attachment }) => choiceOf(attachment)).find((value) => value !== null && values.has(value)) ?? null
  );
}
