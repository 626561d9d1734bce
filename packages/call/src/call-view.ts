import type { Media } from './media.ts';
import type { Problem } from './problem.ts';

/**
 * A call is
 *
 *   idle          not begun;
 *   preparing     asking the browser for microphone and camera. Who is refused goes on without: it hears and sees;
 *   connecting    there, and looking for the other side;
 *   connected     talking;
 *   reconnecting  it was connected, and is trying to be again;
 *   ended         over. Every device has been let go of, and nothing is sent or taken any more.
 *
 * idle → preparing → connecting → connected ⇄ reconnecting, and from each to ended. The next call is a new `Call`.
 *
 * A device starts only in what a click of its owner calls: `start`, `startDevices`, `setMicrophone`, `setCamera` and the choice of
 * a device. What the other side does, the network, or a device that was unplugged never starts one.
 */
export type CallState =
  | { readonly name: 'idle' | 'preparing' | 'connecting' }
  | { readonly name: 'connected' | 'reconnecting'; /** As `Date.now()`. */ readonly since: number }
  | { readonly name: 'ended'; readonly reason: EndReason };

/** `closed`: this page is out of it, because it is being left, the engagement is over, or another page has the call. */
export type EndReason = 'hung_up' | 'other_hung_up' | 'unanswered' | 'lost' | 'closed';

/** Everything there is to show, anew with every change. */
export interface CallView {
  readonly state: CallState;
  readonly media: Media;
  /** Ourselves: to be shown muted. */
  readonly local: MediaStream;
  /** The other side. It stays the same stream; its tracks come and go. */
  readonly remote: MediaStream;
  /** Whether ours are heard and seen. */
  readonly microphone: boolean;
  readonly camera: boolean;
  /** Whether the other side's are, as it last said. `isGone`: it has left its page without hanging up, and may come back. */
  readonly other: { readonly microphone: boolean; readonly camera: boolean; readonly isGone: boolean };
  readonly problems: readonly Problem[];
}
