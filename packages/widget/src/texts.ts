import type { Engagement, QueueTicket } from '@usher/client/api-types';
import type { Medium } from './media.ts';
import { words } from './words.ts';

/** What the widget says, where that depends on what has happened. */

/** What of the state is about waiting. */
interface Waiting {
  readonly ticket: QueueTicket | null;
  readonly staffed: readonly Medium[] | null;
}

/** The place in the line. Whom nobody can serve now is the first, but not "next". */
export function positionInWords({ ticket, staffed }: Waiting): string {
  if (ticket === null || ticket.position === null) return words.looking;
  if (ticket.position > 1) return words.numberInLine(ticket.position);
  return staffed !== null && isStaffed(staffed, ticket) ? words.nextInLine : words.firstInLine;
}

/** Whether somebody who is online can take the ticket. */
export function isStaffed(staffed: readonly Medium[], { media }: Pick<QueueTicket, 'media'>): boolean {
  return staffed.some((medium) => medium === media);
}

/** That nobody is there, and when that changes, as far as it is known. */
export function offlineInWords(opensAt: string | null, now = new Date()): string {
  return opensAt === null ? words.offline : `${words.offline} ${words.back(timeInWords(new Date(opensAt), now))}`;
}

function timeInWords(at: Date, now: Date): string {
  const time = at.toLocaleTimeString(words.locale, { hour: 'numeric', minute: '2-digit' });
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(at) - midnight(now)) / 86_400_000);
  if (days === 0) return words.atTime(time);
  if (days === 1) return words.tomorrowAt(time);
  const options = days < 7 ? ({ weekday: 'long' } as const) : ({ month: 'long', day: 'numeric' } as const);
  return words.onDayAt(at.toLocaleDateString(words.locale, options), time);
}

export function waitInWords(seconds: number | null): string | null {
  if (seconds === null) return null;
  if (seconds < 60) return words.lessThanMinute;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? words.aboutMinutes(minutes) : words.aboutHours(Math.round(minutes / 60));
}

/** Why asking was refused, by the code of the refusal. */
export function refusalInWords(code: string): string | null {
  const byCode: Readonly<Record<string, string>> = words.refusals;
  return byCode[code] ?? null;
}

export function endInWords(reason: Engagement['end_reason']): string {
  return words.ends[reason ?? 'operator_hung_up'];
}

export function bytesInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
