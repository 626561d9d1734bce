import type { LogPoint } from '../events/log-point.ts';

/** How far a reader has read an account's log. The id of a feed item is a position as text. */
export interface Position {
  /** All events visible at this point have been seen. */
  readonly seen: LogPoint;
  /** The board's version up to which states have been sent. */
  readonly version: number;
  /** When the position was read, in epoch milliseconds by the database's clock. */
  readonly at: number;
  /** Within a batch: events visible at this later point have also been seen, up to and including `seq`. */
  readonly midway?: { readonly upTo: LogPoint; readonly seq: number };
}

const snapshot = String.raw`\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20})*)?`;
const point = String.raw`(\d{1,7}\.[0-9a-f]{8}\.${snapshot}\.\d{1,20}\.\d{1,19})`;
const pattern = new RegExp(String.raw`^(\d{1,16})-(\d{1,16})-${point}(?:-${point}-(\d{1,16}))?$`);
/** A snapshot lists the transactions in progress, so it may be long. */
const maxIdLength = 16_384;

export function idOf({ at, version, seen, midway }: Position): string {
  const whole = `${at}-${version}-${textOf(seen)}`;
  return midway === undefined ? whole : `${whole}-${textOf(midway.upTo)}-${midway.seq}`;
}

/** If no event was seen, `last` is written as `0.0`. */
function textOf({ epoch, tag, snapshot: shown, last }: LogPoint): string {
  return `${epoch}.${tag}.${shown}.${last ?? '0.0'}`;
}

function pointIn(text: string): LogPoint {
  const [epoch, tag = '', shown = '', xid = '', seq = ''] = text.split('.');
  return { epoch: Number(epoch), tag, snapshot: shown, last: xid === '0' ? null : `${xid}.${seq}` };
}

/** `null`: the text is not an id of a feed item. */
export function positionOf(id: string): Position | null {
  const found = id.length > maxIdLength ? null : pattern.exec(id);
  if (found === null) return null;
  const [, at, version, seen = '', upTo, seq] = found;
  const position = { at: Number(at), version: Number(version), seen: pointIn(seen) };
  return upTo === undefined ? position : { ...position, midway: { upTo: pointIn(upTo), seq: Number(seq) } };
}
