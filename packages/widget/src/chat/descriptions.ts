import type { Engagement, QueueTicket } from '@usher/sdk/api-types';
import type { Medium } from '../calls/media.ts';
import { texts } from '../texts.ts';

/** Texts that depend on the state. */

interface WaitingState {
  readonly ticket: QueueTicket | null;
  readonly staffedMedia: readonly Medium[] | null;
}

/** The visitor's position. The first visitor is "next" only if an online operator can serve them. */
export function describePosition({ ticket, staffedMedia }: WaitingState): string {
  if (ticket === null || ticket.position === null) return texts.findingOperator;
  if (ticket.position > 1) return texts.numberInLine(ticket.position);
  return staffedMedia !== null && isStaffed(staffedMedia, ticket) ? texts.nextInLine : texts.firstInLine;
}

/** Whether an online operator could serve the ticket. */
export function isStaffed(staffedMedia: readonly Medium[], { media }: Pick<QueueTicket, 'media'>): boolean {
  return staffedMedia.some((medium) => medium === media);
}

/** Says that we are offline and, if known, when we are back. */
export function describeOffline(opensAt: string | null, now = new Date()): string {
  if (opensAt === null) return texts.offline;
  const at = new Date(opensAt);
  const time = at.toLocaleTimeString(texts.locale, { hour: 'numeric', minute: '2-digit' });
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(at) - midnight(now)) / 86_400_000);
  if (days === 0) return texts.offlineUntilToday(time);
  if (days === 1) return texts.offlineUntilTomorrow(time);
  const options = days < 7 ? ({ weekday: 'long' } as const) : ({ month: 'long', day: 'numeric' } as const);
  return texts.offlineUntilDay(at.toLocaleDateString(texts.locale, options), time);
}

export function describeWait(seconds: number | null): string | null {
  if (seconds === null) return null;
  if (seconds < 60) return texts.lessThanMinute;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? texts.aboutMinutes(minutes) : texts.aboutHours(Math.round(minutes / 60));
}

/** Why the visitor could not enter a queue; `null`: the code says nothing about queues. */
export function describeQueueRefusal(code: string): string | null {
  const byCode: Readonly<Record<string, string>> = texts.queueRefusals;
  return byCode[code] ?? null;
}

export function describeEnd(reason: Engagement['end_reason']): string {
  return texts.conversationEnds[reason ?? 'operator_hung_up'];
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return texts.bytes(`${bytes}`);
  if (bytes < 1_000_000) return texts.kilobytes(`${Math.round(bytes / 1_000)}`);
  return texts.megabytes((bytes / 1_000_000).toFixed(1));
}
