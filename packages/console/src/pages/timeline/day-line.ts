import type { PresenceInterval } from '@usher/sdk/api-types';
import { formatTime } from '../../components/time/time.ts';
import { texts } from './texts.ts';

/** The state of an operator, as coloured in the timeline. */
export type Kind = 'engaged' | 'available' | 'away';

export const kinds: readonly { readonly kind: Kind; readonly label: string }[] = [
  { kind: 'engaged', label: texts.inConversation },
  { kind: 'available', label: texts.available },
  { kind: 'away', label: texts.away },
];

/** An interval, cut at the bounds of the day. */
export interface Piece {
  readonly kind: Kind;
  /** A label such as `Available: video` or `Away: Lunch`. */
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

export interface Line {
  readonly operatorId: string;
  readonly pieces: readonly Piece[];
  /** Seconds in each state and in total. */
  readonly seconds: Readonly<Record<Kind | 'online', number>>;
}

interface Day {
  readonly from: number;
  readonly to: number;
  /** Intervals that are not over are drawn up to this time. */
  readonly now: number;
}

const mediumLabels: Readonly<Record<string, string>> = texts.media;

function describeInterval({ type, reason }: PresenceInterval): Pick<Piece, 'kind' | 'label'> {
  if (type === 'engaged') return { kind: 'engaged', label: texts.inConversation };
  const medium = reason === null ? mediumLabels[type] : undefined;
  if (medium !== undefined) return { kind: 'available', label: texts.availableFor(medium) };
  if (type === 'missed_call') return { kind: 'away', label: texts.awayMissedOffer };
  return { kind: 'away', label: reason === null ? texts.away : texts.awayWithReason(reason) };
}

/** One line for each operator who was online on the day. */
export function linesOf(intervals: readonly PresenceInterval[], { from, to, now }: Day): Line[] {
  const byOperator = Map.groupBy(intervals, ({ operator_id }) => operator_id);
  return [...byOperator].flatMap(([operatorId, found]) => {
    const pieces = found
      .map((interval) => ({
        ...describeInterval(interval),
        from: Math.max(from, Date.parse(interval.started_at)),
        to: Math.min(to, interval.ended_at === null ? now : Date.parse(interval.ended_at)),
      }))
      .filter((piece) => piece.to > piece.from)
      .toSorted((a, b) => a.from - b.from);
    return pieces.length === 0 ? [] : [{ operatorId, pieces, seconds: secondsOf(pieces) }];
  });
}

function secondsOf(pieces: readonly Piece[]): Line['seconds'] {
  const seconds = { engaged: 0, available: 0, away: 0, online: 0 };
  for (const { kind, from, to } of pieces) {
    // Rounded to whole seconds that add up, as in the statistics.
    const length = Math.floor(to / 1_000) - Math.floor(from / 1_000);
    seconds[kind] += length;
    seconds.online += length;
  }
  return seconds;
}

/** The intervals of a state as one SVG path, in a box 1 high and as wide as the day has milliseconds. */
export function pathOf(pieces: readonly Piece[], kind: Kind, dayFrom: number): string {
  return pieces
    .filter((piece) => piece.kind === kind)
    .map((piece) => `M${piece.from - dayFrom} 0h${piece.to - piece.from}v1h${piece.from - piece.to}z`)
    .join('');
}

/** Every third full hour in the reader's time zone; on the days of a DST change they are not evenly spaced. */
export function hoursOf(from: Date, to: Date): { readonly label: string; readonly at: number }[] {
  const hours: { label: string; at: number }[] = [];
  for (let hour = 0; hour <= 24; hour += 3) {
    const at = new Date(from.getFullYear(), from.getMonth(), from.getDate(), hour).getTime();
    if (at <= to.getTime()) hours.push({ label: formatTime(at, 'hour'), at });
  }
  return hours;
}
