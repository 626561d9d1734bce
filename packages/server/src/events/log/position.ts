import { invalid } from '../../platform/errors.ts';
import { latest } from '../../platform/instant.ts';

/**
 * How far a reader has gone back in the log: to before an event of a day (UTC), or to the end of the day. The events of a day
 * are ordered by transaction, as in the log's only index, and within a transaction by `seq`.
 */
export interface LogPosition {
  /** The first instant of the day, in epoch milliseconds. */
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
    throw invalid([{ attribute: '/cursor', detail: 'must be a cursor from next_page' }]);
  return { day: Number(day) * dayMs, before };
}
