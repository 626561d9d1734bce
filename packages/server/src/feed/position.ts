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

const point = String.raw`(\d{1,7})\.([0-9a-f]{8})\.(\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20})*)?)`;
const pattern = new RegExp(String.raw`^(\d{1,16})-(\d{1,16})-${point}(?:-${point}-(\d{1,16}))?$`);
/** A snapshot names the transactions that were under way: with many of them it is long. */
const longestId = 16_384;

export function idOf({ at, version, seen, midway }: Position): string {
  const whole = `${at}-${version}-${textOf(seen)}`;
  return midway === undefined ? whole : `${whole}-${textOf(midway.upTo)}-${midway.seq}`;
}

function textOf({ epoch, tag, snapshot }: LogPoint): string {
  return `${epoch}.${tag}.${snapshot}`;
}

/** `null` for what is no id of ours. */
export function positionOf(id: string): Position | null {
  const found = id.length > longestId ? null : pattern.exec(id);
  if (found === null) return null;
  const [, at, version, epoch, tag = '', snapshot = '', laterEpoch, laterTag, laterSnapshot, seq] = found;
  const position = { at: Number(at), version: Number(version), seen: { epoch: Number(epoch), tag, snapshot } };
  if (laterEpoch === undefined || laterTag === undefined || laterSnapshot === undefined) return position;
  const upTo = { epoch: Number(laterEpoch), tag: laterTag, snapshot: laterSnapshot };
  return { ...position, midway: { upTo, seq: Number(seq) } };
}
