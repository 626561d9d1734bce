import type { Engagement, MediaUpgradeRequest, QueueTicket } from '@usher/sdk/api-types';
import type { FileRules } from './chat/file-rules.ts';
import type { FeedState } from '@usher/client/feed';
import type { Media } from '@usher/call/media';
import type { Medium } from './calls/media.ts';
import type { Message } from './chat/messages.ts';
import type { UnsentMessage } from './chat/outbox.ts';
import { describeError } from './describe-error.ts';
import type { Store } from './store.ts';

/** A media upgrade request with the fields of its event, which has no times. */
export type UpgradeRequest = Omit<
  MediaUpgradeRequest,
  'created_at' | 'updated_at' | 'audio_type' | 'phone_number' | 'phone_extension'
>;

interface Notice {
  readonly kind: 'info' | 'problem';
  readonly text: string;
}

/**
 * The stage of the conversation:
 *
 *   idle      no conversation;
 *   starting  the ticket is being created;
 *   waiting   the visitor has a ticket; `null`: the ticket has not been read yet after a reload;
 *   engaged   the visitor is in an engagement; `null`: the engagement has not been read yet after a reload;
 *   ended     the engagement has ended. The transcript stays until the next conversation starts.
 *
 * idle → starting → waiting → engaged → ended → idle. From starting and waiting back to idle, with a notice that says why. From any
 * stage to idle when the server no longer knows the visitor. After a reload from idle to the stage that the server reports.
 */
export type Stage =
  | { readonly name: 'idle' | 'starting' }
  | { readonly name: 'waiting'; readonly ticket: QueueTicket | null }
  | Engaged
  | { readonly name: 'ended'; readonly engagement: Engagement };

export interface Engaged {
  readonly name: 'engaged';
  readonly engagement: Engagement | null;
  /** The pending request of either side. */
  readonly upgrade: UpgradeRequest | null;
  /** The media of the call; `null`: the engagement is a chat. */
  readonly callMedia: Media | null;
}

/** Everything that is shown. Messages, files and typing are not part of the stage: they may arrive before the engagement is read. */
export interface State {
  readonly stage: Stage;
  /** The media for which a queue is open; `null`: not read yet. */
  readonly openMedia: readonly Medium[] | null;
  /** The media in which an online operator could serve a visitor; `null`: not read yet. While waiting: in the queues of the ticket. */
  readonly staffedMedia: readonly Medium[] | null;
  /** When the opening hours begin; `null`: they have begun, or that is unknown. */
  readonly opensAt: string | null;
  readonly connection: FeedState;
  readonly messages: readonly Message[];
  readonly unsent: readonly UnsentMessage[];
  /** The files that this conversation accepts; `null`: none, or not read yet. */
  readonly fileRules: FileRules | null;
  readonly isOperatorTyping: boolean;
  readonly notice: Notice | null;
  /** The number of messages that came while the panel was closed or the page hidden. */
  readonly unread: number;
  readonly isPanelOpen: boolean;
}

export const initialState: State = {
  stage: { name: 'idle' },
  openMedia: null,
  staffedMedia: null,
  opensAt: null,
  connection: 'connecting',
  messages: [],
  unsent: [],
  fileRules: null,
  isOperatorTyping: false,
  notice: null,
  unread: 0,
  isPanelOpen: false,
};

/** Whether the button is shown: a queue is open, or there is a conversation. */
export function isShown({ stage, openMedia, isPanelOpen }: State): boolean {
  return stage.name !== 'idle' || isPanelOpen || (openMedia ?? []).length > 0;
}

export function engagementOf(stage: Stage): Engagement | null {
  return stage.name === 'engaged' || stage.name === 'ended' ? stage.engagement : null;
}

/** Runs an action of the visitor. If it fails, a notice says why. */
export async function runWithNotice(store: Store<State>, action: () => Promise<void>): Promise<void> {
  try {
    store.set({ notice: null });
    await action();
  } catch (error) {
    store.set({ notice: { kind: 'problem', text: describeError(error) } });
  }
}
