import { invalid } from '../../platform/errors.ts';
import { latest } from '../../platform/instant.ts';

/**
 * Where a reader of the log is on its way back: in a day (UTC), before an event; or at the day's end. Within a day events
 * stand in the order of their transactions, as the log's one index has them, and in one transaction in that of their `seq`.
 */
export interface LogPosition {
  /** Its first instant, epoch milliseconds. */
  readonly day: number;
  readonly before: { readonly xid: bigint; readonly seq: bigint } | null;
}

export const dayMs = 86_400_000;

export function dayOf(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

export const endOfDay = { xid: 2n ** 64n - 1n, seq: 2n ** 63n - 1n };

export function writeCursor({ day, before }: LogPosition): string {
  const text = before === null ? `${day / dayMs}` : `${day / dayMs} ${before.xid} ${before.seq}`;
  return Buffer.from(text, 'latin1').toString('base64url');
}

export function readLogCursor(text: string): LogPosition {
  const found = /^(\d{1,7})(?: (\d{1,20}) (\d{1,19}))?$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  const [, day = '', xid, seq] = found ?? [];
  const before = xid === undefined || seq === undefined ? null : { xid: BigInt(xid), seq: BigInt(seq) };
  const isInRange = before === null || (before.xid <= endOfDay.xid && before.seq <= endOfDay.seq);
  if (found === null || !isInRange || Number(day) * dayMs > latest)
    throw invalid([{ attribute: '/cursor', detail: 'is not one that next_page has given' }]);
  return { day: Number(day) * dayMs, before };
}
