/**
 * How far a reader of an account's log has come, and the id of an item on the feed: what the id says has been seen.
 *
 * The log has no order that a number could stand for: a transaction that began earlier may commit later. What a reader has
 * seen is a snapshot of PostgreSQL; what is new to it is what that snapshot could not see.
 */
export interface Position {
  /** Everything this snapshot saw has been seen. */
  readonly seen: string;
  /** The board's version up to which things have been shown as they are. */
  readonly version: number;
  /** When it was taken, epoch milliseconds by the database's clock. */
  readonly at: number;
  /** In the middle of a batch: also what this later snapshot saw, as far as it was told before `seq`, inclusively. */
  readonly midway?: { readonly upTo: string; readonly seq: number };
}

const snapshot = String.raw`\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20})*)?`;
const pattern = new RegExp(String.raw`^(\d{1,16})-(\d{1,16})-(${snapshot})(?:-(${snapshot})-(\d{1,16}))?$`);
/** A snapshot names the transactions that were under way: with many of them it is long. */
const longestId = 16_384;

export function idOf({ at, version, seen, midway }: Position): string {
  const whole = `${at}-${version}-${seen}`;
  return midway === undefined ? whole : `${whole}-${midway.upTo}-${midway.seq}`;
}

/** `null` for what is no id of ours. */
export function positionOf(id: string): Position | null {
  const found = id.length > longestId ? null : pattern.exec(id);
  if (found === null) return null;
  const [, at, version, seen = '', upTo, seq] = found;
  const position = { at: Number(at), version: Number(version), seen };
  return upTo === undefined ? position : { ...position, midway: { upTo, seq: Number(seq) } };
}
