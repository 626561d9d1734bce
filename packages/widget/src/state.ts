import type { Engagement, MediaUpgradeRequest, QueueTicket } from '@usher/client/api-types';
import type { FileRules } from './file-rules.ts';
import type { FeedState } from '@usher/client/feed';
import type { Media } from '@usher/call/media';
import type { Medium } from './media.ts';
import type { Message } from './messages.ts';
import type { Unsent } from './outbox.ts';

/**
 * A visitor is
 *
 *   idle      has asked for nobody;
 *   starting  is asking;
 *   waiting   has a ticket;
 *   engaged   is talking;
 *   ended     was talking. The transcript stays until something new begins.
 *
 * idle → starting → waiting → engaged → ended → idle; from starting and waiting back to idle, with a notice that says why.
 */
type Phase = 'idle' | 'starting' | 'waiting' | 'engaged' | 'ended';

/** As the event says it that asks, which has no times. */
export type Upgrade = Omit<
  MediaUpgradeRequest,
  'created_at' | 'updated_at' | 'audio_type' | 'phone_number' | 'phone_extension'
>;

interface Notice {
  readonly kind: 'info' | 'problem';
  readonly text: string;
}

export interface State {
  readonly phase: Phase;
  /** What the queues let in; `null`: not known yet. */
  readonly open: readonly Medium[] | null;
  /** By what somebody who is online could serve a visitor; `null`: not known yet. While waiting, in the queues of the ticket. */
  readonly staffed: readonly Medium[] | null;
  /** When the hours begin; `null`: they have begun, or that is not known. */
  readonly opensAt: string | null;
  readonly connection: FeedState;
  readonly ticket: QueueTicket | null;
  readonly engagement: Engagement | null;
  readonly messages: readonly Message[];
  readonly unsent: readonly Unsent[];
  /** What may be sent in this conversation; `null`: no files, or that is not known yet. */
  readonly fileRules: FileRules | null;
  /** Asked for and not answered yet, by either side. */
  readonly upgrade: Upgrade | null;
  /** What is to be heard and seen; `null`: it is a chat. */
  readonly callMedia: Media | null;
  readonly isOperatorTyping: boolean;
  readonly notice: Notice | null;
  /** Messages that came while nobody looked. */
  readonly unread: number;
  readonly isPanelOpen: boolean;
}

export const initialState: State = {
  phase: 'idle',
  open: null,
  staffed: null,
  opensAt: null,
  connection: 'connecting',
  ticket: null,
  engagement: null,
  messages: [],
  unsent: [],
  fileRules: null,
  upgrade: null,
  callMedia: null,
  isOperatorTyping: false,
  notice: null,
  unread: 0,
  isPanelOpen: false,
};

/** Whether there is anything to show on the page: an open queue, or something under way. */
export function isShown({ phase, open, isPanelOpen }: State): boolean {
  return phase !== 'idle' || isPanelOpen || (open ?? []).length > 0;
}
