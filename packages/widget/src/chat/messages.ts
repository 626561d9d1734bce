import type { ChatMessage, ChatMessageEvent, ChatMessageStatusEvent } from '@usher/sdk/api-types';

/** A message: the fields that the transcript and the events have in common. */
export interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly content: string;
  readonly status: 'sent' | 'delivered';
  readonly from: 'visitor' | 'operator';
  /** Identifies the operator of an operator's message. */
  readonly subEngagementId: string;
  readonly attachment: Attachment | null;
}

export type Attachment =
  | { readonly type: 'single_choice'; readonly image_url?: string; readonly options: readonly Option[] }
  | { readonly type: 'single_choice_response'; readonly selected_option: string }
  | { readonly type: 'files'; readonly files: readonly SentFile[] };

export interface Option {
  readonly text: string;
  readonly value: string;
}

export interface SentFile {
  readonly url: string;
  readonly name: string;
  readonly content_type: string;
  readonly deleted: boolean;
}

type ApiMessage = ChatMessage | ChatMessageEvent['message'] | ChatMessageStatusEvent['message'];

export function toMessage({ id, timestamp, content, status, sender, attachment, ...rest }: ApiMessage): Message {
  const from = sender.type === 'visitor' ? 'visitor' : 'operator';
  const subEngagementId = rest.sub_engagement_id;
  return { id, timestamp, content, status, from, subEngagementId, attachment: attachment as Attachment | null };
}

/**
 * Merges messages by id, in the order the server received them. A delivered message stays delivered, and an attachment stays when an
 * update leaves it out.
 */
export function mergeMessages(current: readonly Message[], more: readonly Message[]): Message[] {
  const byId = new Map(current.map((message) => [message.id, message]));
  for (const message of more) {
    const before = byId.get(message.id);
    const status = before?.status === 'delivered' ? 'delivered' : message.status;
    byId.set(message.id, { ...message, status, attachment: message.attachment ?? before?.attachment ?? null });
  }
  return [...byId.values()].toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1));
}

/** Counts the operator's messages that are new here and not delivered yet. */
export function countNew(more: readonly Message[], current: readonly Message[]): number {
  const ids = new Set(current.map(({ id }) => id));
  return more.filter(({ id, from, status }) => from === 'operator' && status === 'sent' && !ids.has(id)).length;
}

/** Marks the file as deleted in every message that contains it. */
export function markFileDeleted(messages: readonly Message[], fileId: string): Message[] {
  return messages.map((message) => {
    const { attachment } = message;
    if (attachment?.type !== 'files' || !attachment.files.some((file) => fileIdOf(file) === fileId)) return message;
    const files = attachment.files.map((file) => (fileIdOf(file) === fileId ? { ...file, deleted: true } : file));
    return { ...message, attachment: { ...attachment, files } };
  });
}

/**
 * The chosen option of a card: the first later answer that is one of its options, unless another card with the same option comes
 * before that answer. `null`: none yet.
 */
export function chosenOption(card: Message, messages: readonly Message[]): string | null {
  const values = optionsOf(card);
  if (values.length === 0) return null;
  for (const { attachment } of messages.slice(messages.indexOf(card) + 1)) {
    if (attachment?.type === 'single_choice_response' && values.includes(attachment.selected_option))
      return attachment.selected_option;
    if (attachment?.type === 'single_choice' && attachment.options.some(({ value }) => values.includes(value)))
      return null;
  }
  return null;
}

function optionsOf({ attachment }: Message): string[] {
  return attachment?.type === 'single_choice' ? attachment.options.map(({ value }) => value) : [];
}

/** The id is the last part of the URL. The rest is ignored, so that our token is sent to no other server. */
export function fileIdOf({ url }: SentFile): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
