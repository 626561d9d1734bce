import type { DeviceProblem } from './device-problem.ts';
import type { Media } from './media.ts';

/**
 * The states of a call:
 *
 *   idle          not started;
 *   preparing     waits for the browser to grant microphone and camera. If they are refused, the call goes on without them:
 *                 the user still hears and sees the other side;
 *   connecting    is looking for the other side;
 *   connected     media flows;
 *   reconnecting  was connected, and is trying to connect again;
 *   ended         all devices are released, and signals are neither sent nor received.
 *
 * idle → preparing → connecting → connected ⇄ reconnecting, and from each to ended. The next call is a new `Call`.
 *
 * A device starts only in a method that its owner's click calls: `start`, `startDevices`, `setMicrophone`, `setCamera` and the
 * choice of a device. The other side, the network or an unplugged device never starts one.
 */
export type CallState =
  | { readonly name: 'idle' | 'preparing' | 'connecting' }
  | { readonly name: 'connected' | 'reconnecting'; /** As `Date.now()`. */ readonly since: number }
  | { readonly name: 'ended'; readonly reason: EndReason };

/** `closed`: this page left the call, because the page was closed, the engagement ended, or another page took over the call. */
export type EndReason = 'hung_up' | 'other_hung_up' | 'unanswered' | 'lost' | 'closed';

/** Everything that a page shows of a call. Immutable: each change makes a new view. */
export interface CallView {
  readonly state: CallState;
  readonly media: Media;
  /** Our own tracks; play them muted. */
  readonly local: MediaStream;
  /** The other side's tracks. The stream stays the same; its tracks come and go. */
  readonly remote: MediaStream;
  /** Whether our microphone and camera are on. */
  readonly microphone: boolean;
  readonly camera: boolean;
  /** The other side's devices, as last reported. `isGone`: the other side left its page without hanging up, and may come back. */
  readonly other: { readonly microphone: boolean; readonly camera: boolean; readonly isGone: boolean };
  readonly problems: readonly DeviceProblem[];
}
