import type { LogPoint } from '../events/log-point.ts';

/** How far a reader of an account's log has come, and the id of an item on the feed: what the id says has been seen. */
export interface Position {
  /** Everything that could be seen here has been seen. */
  readonly seen: LogPoint;
  /** The board's version up to which things have been shown as they are. */
  readonly version: number;
  /** When it was taken, epoch milliseconds by the database's clock. */
  readonly at: number;
  /** In the middle of a batch: also what could be seen at this later point, up to the event `seq`, inclusively. */
  readonly midway?: { readonly upTo: LogPoint; readonly seq: number };
}

const snapshot = String.raw`\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20})*)?`;
const point = String.raw`(\d{1,7}\.[0-9a-f]{8}\.${snapshot}\.\d{1,20}\.\d{1,19})`;
const pattern = new RegExp(String.raw`^(\d{1,16})-(\d{1,16})-${point}(?:-${point}-(\d{1,16}))?$`);
/** A snapshot names the transactions that were under way: with many of them it is long. */
const longestId = 16_384;

export function idOf({ at, version, seen, midway }: Position): string {
  const whole = `${at}-${version}-${textOf(seen)}`;
  return midway === undefined ? whole : `${whole}-${textOf(midway.upTo)}-${midway.seq}`;
}

/** Where no event was seen, the last one is `0.0`. */
function textOf({ epoch, tag, snapshot: shown, last }: LogPoint): string {
  return `${epoch}.${tag}.${shown}.${last ?? '0.0'}`;
}

function pointIn(text: string): LogPoint {
  const [epoch, tag = '', shown = '', xid = '', seq = ''] = text.split('.');
  return { epoch: Number(epoch), tag, snapshot: shown, last: xid === '0' ? null : `${xid}.${seq}` };
}

/** `null` for what is no id of ours. */
export function positionOf(id: string): Position | null {
  const found = id.length > longestId ? null : pattern.exec(id);
  if (found === null) return null;
  const [, at, version, seen = '', upTo, seq] = found;
  const position = { at: Number(at), version: Number(version), seen: pointIn(seen) };
  return upTo === undefined ? position : { ...position, midway: { upTo: pointIn(upTo), seq: Number(seq) } };
}
