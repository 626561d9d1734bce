import type { ChatMessage, ChatMessageEvent, ChatMessageStatusEvent } from '@usher/client/api-types';

/** A message as the transcript has it, or an event: what they have in common. */
export interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly content: string;
  readonly status: 'sent' | 'delivered';
  readonly from: 'visitor' | 'operator';
  /** Says which operator, if it is from one. */
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

type Told = ChatMessage | ChatMessageEvent['message'] | ChatMessageStatusEvent['message'];

export function messageOf({ id, timestamp, content, status, sender, attachment, ...rest }: Told): Message {
  const from = sender.type === 'visitor' ? 'visitor' : 'operator';
  const subEngagementId = rest.sub_engagement_id;
  return { id, timestamp, content, status, from, subEngagementId, attachment: attachment as Attachment | null };
}

/** Each message once, in the order the server received them. What was delivered stays so, and a file is not forgotten. */
export function merge(known: readonly Message[], more: readonly Message[]): Message[] {
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of more) {
    const before = byId.get(message.id);
    const status = before?.status === 'delivered' ? 'delivered' : message.status;
    byId.set(message.id, { ...message, status, attachment: message.attachment ?? before?.attachment ?? null });
  }
  return [...byId.values()].toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1));
}

/** How many of the messages are from an operator and neither known nor delivered. */
export function newsAmong(more: readonly Message[], known: readonly Message[]): number {
  const ids = new Set(known.map(({ id }) => id));
  return more.filter(({ id, from, status }) => from === 'operator' && status === 'sent' && !ids.has(id)).length;
}

/** With the file shown as deleted wherever it was sent. */
export function withDeleted(messages: readonly Message[], fileId: string): Message[] {
  return messages.map((message) => {
    const { attachment } = message;
    if (attachment?.type !== 'files' || !attachment.files.some((file) => fileIdOf(file) === fileId)) return message;
    const files = attachment.files.map((file) => (fileIdOf(file) === fileId ? { ...file, deleted: true } : file));
    return { ...message, attachment: { ...attachment, files } };
  });
}

/**
 * What was chosen of a card: the first answer behind it that is one of its options, unless another card that offers the
 * same came between. `null`: nothing yet.
 */
export function chosenOf(card: Message, messages: readonly Message[]): string | null {
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

/** The address names the file at its end. The rest of it is not used: our token goes to nobody but Usher. */
export function fileIdOf({ url }: SentFile): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
