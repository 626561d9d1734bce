import type { Engagement, MediaUpgradeRequest, QueueTicket } from '@usher/client/api-types';
import type { FileRules } from './file-rules.ts';
import type { FeedState } from '@usher/client/feed';
import type { Media } from '@usher/call/media';
import type { Medium } from './media.ts';
import type { Message } from './messages.ts';
import type { Unsent } from './outbox.ts';
import { reasonOf } from './reasons.ts';
import type { Store } from './store.ts';

/** A request for a call, as the event that asks says it: without times. */
export type Upgrade = Omit<
  MediaUpgradeRequest,
  'created_at' | 'updated_at' | 'audio_type' | 'phone_number' | 'phone_extension'
>;

interface Notice {
  readonly kind: 'info' | 'problem';
  readonly text: string;
}

/**
 * Where the visitor is:
 *
 *   idle      has asked for nobody;
 *   starting  is asking;
 *   waiting   has a ticket; `null`: after a reload it could not be read yet;
 *   engaged   is talking; `null`: after a reload the engagement could not be read yet;
 *   ended     was talking. The transcript stays until something new begins.
 *
 * idle → starting → waiting → engaged → ended → idle. From starting and waiting back to idle, with a notice that says why, and
 * from any stage to idle when nobody knows the visitor any more. After a reload from idle to whichever stage the visitor is in.
 */
export type Stage =
  | { readonly name: 'idle' | 'starting' }
  | { readonly name: 'waiting'; readonly ticket: QueueTicket | null }
  | Engaged
  | { readonly name: 'ended'; readonly engagement: Engagement };

export interface Engaged {
  readonly name: 'engaged';
  readonly engagement: Engagement | null;
  /** Asked for and not answered yet, by either side. */
  readonly upgrade: Upgrade | null;
  /** What is to be heard and seen; `null`: the engagement is a chat. */
  readonly callMedia: Media | null;
}

/** What is shown. Messages, files and typing may be known before their engagement has been read: they are no part of its stage. */
export interface State {
  readonly stage: Stage;
  /** What the queues let in; `null`: not known yet. */
  readonly open: readonly Medium[] | null;
  /** By what somebody who is online could serve a visitor; `null`: not known yet. While waiting, in the queues of the ticket. */
  readonly staffed: readonly Medium[] | null;
  /** When the hours begin; `null`: they have begun, or that is not known. */
  readonly opensAt: string | null;
  readonly connection: FeedState;
  readonly messages: readonly Message[];
  readonly unsent: readonly Unsent[];
  /** What may be sent in this conversation; `null`: no files, or that is not known yet. */
  readonly fileRules: FileRules | null;
  readonly isOperatorTyping: boolean;
  readonly notice: Notice | null;
  /** Messages that came while nobody looked. */
  readonly unread: number;
  readonly isPanelOpen: boolean;
}

export const initialState: State = {
  stage: { name: 'idle' },
  open: null,
  staffed: null,
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

/** Whether there is anything to show on the page: an open queue, or something under way. */
export function isShown({ stage, open, isPanelOpen }: State): boolean {
  return stage.name !== 'idle' || isPanelOpen || (open ?? []).length > 0;
}

export function engagementOf(stage: Stage): Engagement | null {
  return stage.name === 'engaged' || stage.name === 'ended' ? stage.engagement : null;
}

/** Does what the visitor asks for, and says why if it fails. */
export async function attempt(store: Store<State>, work: () => Promise<void>): Promise<void> {
  try {
    store.set({ notice: null });
    await work();
  } catch (error) {
    store.set({ notice: { kind: 'problem', text: reasonOf(error) } });
  }
}
