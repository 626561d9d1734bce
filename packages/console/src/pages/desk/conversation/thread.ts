import { describeEndedCall } from '@usher/call/ended-call';
import type { CompletedTransfer } from '@usher/sdk/api-types';
import type { Conversation, Message } from './conversation.ts';

/** An entry of the conversation: a message, an ended call or a transfer. */
export type ThreadEntry =
  | { readonly kind: 'message'; readonly id: string; readonly at: string; readonly message: Message }
  | { readonly kind: 'call'; readonly id: string; readonly at: string; readonly text: string }
  | { readonly kind: 'transfer'; readonly id: string; readonly at: string; readonly transfer: CompletedTransfer };

/** Messages keep the order of the server; other entries come before the first later message. */
export function threadOf({
  messages,
  engagement,
  transfers,
}: Pick<Conversation, 'messages' | 'engagement' | 'transfers'>): readonly ThreadEntry[] {
  const others = [...callsOf(engagement), ...transfers.map(entryOf)].toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const thread: ThreadEntry[] = [];
  for (const message of messages) {
    while (others[0] !== undefined && others[0].at < message.timestamp) thread.push(...others.splice(0, 1));
    thread.push({ kind: 'message', id: message.id, at: message.timestamp, message });
  }
  return [...thread, ...others];
}

function callsOf({ calls }: Conversation['engagement']): ThreadEntry[] {
  return calls.flatMap((call) => {
    const [at, text] = [call.ended_at, describeEndedCall(call)];
    return at === null || text === null ? [] : [{ kind: 'call', id: call.id, at, text }];
  });
}

function entryOf(transfer: CompletedTransfer): ThreadEntry {
  return { kind: 'transfer', id: transfer.id, at: transfer.transferred_at, transfer };
}
