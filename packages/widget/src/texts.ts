import type { Engagement, MediaUpgradeRequest, QueueTicket } from '@usher/client/api-types';
import type { Medium } from './media.ts';

/** What the widget says, where that depends on what has happened. */

export const mediumNames: Readonly<Record<Medium, string>> = { text: 'Chat', audio: 'Call', video: 'Video call' };

/** What of the state is about waiting. */
interface Waiting {
  readonly ticket: QueueTicket | null;
  readonly staffed: readonly Medium[] | null;
}

/** The place in the line. Whom nobody can serve now is the first, but not "next". */
export function positionInWords({ ticket, staffed }: Waiting): string {
  if (ticket === null || ticket.position === null) return 'Looking for somebody to help you';
  if (ticket.position > 1) return `You are number ${ticket.position} in line`;
  return staffed !== null && isStaffed(staffed, ticket) ? 'You are next in line' : 'You are first in line';
}

/** Whether somebody who is online can take the ticket. */
export function isStaffed(staffed: readonly Medium[], { media }: Pick<QueueTicket, 'media'>): boolean {
  return staffed.some((medium) => medium === media);
}

/** That nobody is there, and when that changes, as far as it is known. */
export function offlineInWords(opensAt: string | null, now = new Date()): string {
  const offline = "We're offline right now.";
  return opensAt === null ? offline : `${offline} We're back ${timeInWords(new Date(opensAt), now)}.`;
}

function timeInWords(at: Date, now: Date): string {
  const time = at.toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' });
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(at) - midnight(now)) / 86_400_000);
  if (days === 0) return `at ${time}`;
  if (days === 1) return `tomorrow at ${time}`;
  const options = days < 7 ? ({ weekday: 'long' } as const) : ({ month: 'long', day: 'numeric' } as const);
  return `on ${at.toLocaleDateString('en', options)} at ${time}`;
}

export function waitInWords(seconds: number | null): string | null {
  if (seconds === null) return null;
  if (seconds < 60) return 'Usually less than a minute';
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `About ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  const hours = Math.round(minutes / 60);
  return `About ${hours} ${hours === 1 ? 'hour' : 'hours'}`;
}

/** A ticket that ended without anybody having been found. */
export function outcomeInWords(state: QueueTicket['state']): string {
  switch (state) {
    case 'unstaffed':
      return "We're offline right now. Please try again later.";
    case 'expired':
      return 'Nobody was free in time. We are sorry. You can try once more.';
    case 'visitor_left':
      return 'The connection was lost for too long, so your place was given up. You can ask again.';
    case 'canceled':
    case 'waiting':
    case 'offered':
    case 'engaged':
      return 'Your request was cancelled. You can ask again.';
  }
}

/** Why asking was refused, by the code of the refusal. */
export function refusalInWords(code: string): string | null {
  switch (code) {
    case 'queue_closed':
      return 'We are closed now. Please come back during our opening hours.';
    case 'queue_unstaffed':
      return 'Nobody is here for this now. Please try again later, or choose another way.';
    case 'queue_full':
      return 'Too many people are waiting already. Please try again in a few minutes.';
    case 'address_limit':
      return 'Too many people on your network are asking at the moment. Please try again in a minute.';
    default:
      return null;
  }
}

export function endInWords(reason: Engagement['end_reason']): string {
  switch (reason) {
    case 'visitor_hung_up':
      return 'You ended the conversation.';
    case 'visitor_left':
      return 'The conversation ended because your connection was lost.';
    case 'operator_left':
      return 'The conversation ended: our side lost its connection.';
    case 'error':
      return 'The conversation ended because of a fault.';
    case 'operator_hung_up':
    case null:
      return 'The conversation has ended.';
  }
}

export function mediaInWords({ audio, video }: Pick<MediaUpgradeRequest, 'audio' | 'video'>): string {
  if (video === 'two_way') return 'a video call';
  if (video === 'one_way') return 'a video call in which only we are seen';
  return audio === null ? 'a chat' : 'a call';
}

export function bytesInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
