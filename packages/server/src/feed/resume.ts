import { isOfThisHistory } from '../events/log-point.ts';
import { databaseErrorCode } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { FollowerDependencies } from './follower.ts';
import { readerScopeOf } from './reader-scope.ts';
import { eventItems, serializeItem, type Item } from './items.ts';
import { eventsByKey, missedEvents, storedChangesBetween, type ReaderScope } from './log.ts';
import { idOf, type Position } from './position.ts';
import { statesOf } from './states.ts';
import type { Stream } from './stream.ts';

/** A reader who was away for longer is reset. What moved is known for an hour. */
const maxAwayMs = 30 * 60_000;
/** Events read and sent at a time. */
const batchSize = 500;
/** Error codes of PostgreSQL for a text that is not a valid snapshot: the id was forged. */
const invalidSnapshotCodes = new Set(['22P02', '22003', '22023']);

interface MissedRange {
  readonly accountId: AccountId;
  readonly stream: Stream;
  readonly from: Position;
  /** From this position on the stream is live. */
  readonly upTo: Position;
}

/** Sends what a reader has missed, as fast as they read. `false`: it is unknown which events they missed; they must read everything again. */
export async function sendMissed(deps: FollowerDependencies, range: MissedRange): Promise<boolean> {
  const { from, upTo } = range;
  // The reader's position may be a little ahead: the clock of the database may have been set back since.
  const awayMs = Math.abs(upTo.at - from.at);
  if (awayMs > maxAwayMs || from.version > upTo.version) return false;
  try {
    return await sendAll(deps, range);
  } catch (error) {
    if (invalidSnapshotCodes.has(databaseErrorCode(error) ?? '')) return false;
    throw error;
  }
}

async function sendAll(deps: FollowerDependencies, range: MissedRange): Promise<boolean> {
  const { accountId, stream, from, upTo } = range;
  for (const point of from.midway === undefined ? [from.seen] : [from.seen, from.midway.upTo]) {
    const isCurrent = point.epoch === upTo.seen.epoch && point.tag === upTo.seen.tag;
    if (!isCurrent && !(await isOfThisHistory(deps.sql, accountId, point))) return false;
  }
  const scope = readerScopeOf([stream]);
  const changed = await storedChangesBetween(deps.sql, accountId, from.version, upTo.version);
  // A crash of the database has lost what changed, but no event. The reset comes first, with the id that the reader has: a reader who is
  // disconnected before the end is reset again.
  if (changed === null) await stream.sendMissed(serializeItem(idOf(from), 'feed.reset', { reason: 'moves_unknown' }));
  let afterEvents = '';
  for (const subrange of splitAtBatch(from, upTo))
    afterEvents = await sendEvents(deps, { ...range, ...subrange }, scope);
  const states = changed === null ? [] : await statesOf(deps, accountId, changed, scope);
  for (let at = 0; at < states.length && !stream.closed; at += batchSize)
    await stream.sendMissed(
      states
        .slice(at, at + batchSize)
        .map((item) => textIfVisible(stream, item, afterEvents))
        .join(''),
    );
  return true;
}

/**
 * A reader who was in the middle of a batch is sent the rest of that batch first. Events that committed since may have a smaller
 * `seq`, and an id can express a position within one batch only.
 */
function splitAtBatch({ midway, ...from }: Position, upTo: Position): readonly Pick<MissedRange, 'from' | 'upTo'>[] {
  if (midway === undefined) return [{ from, upTo }];
  const between = { ...from, seen: midway.upTo };
  return [
    { from: { ...from, midway }, upTo: between },
    { from: between, upTo },
  ];
}

/** Returns the id of a reader who has read all these events. */
async function sendEvents(deps: FollowerDependencies, range: MissedRange, scope: ReaderScope): Promise<string> {
  const { accountId, stream, from, upTo } = range;
  const midway = (seq: number): string =>
    idOf({ seen: from.seen, version: from.version, at: from.at, midway: { upTo: upTo.seen, seq } });
  const { xids, seqs } = await missedEvents(deps.sql, accountId, { from, upTo, scope });
  for (let at = 0; at < seqs.length && !stream.closed; at += batchSize) {
    const bounds = [at, at + batchSize] as const;
    const events = await eventsByKey(deps.sql, accountId, {
      from,
      xids: xids.slice(...bounds),
      seqs: seqs.slice(...bounds),
    });
    const items = await Promise.all(events.map(async (event) => eventItems(event, deps.reveal)));
    const texts = items.flat().map((item) => textIfVisible(stream, item, midway(item.seq)));
    await stream.sendMissed(texts.join(''));
  }
  return midway(seqs.at(-1) ?? from.midway?.seq ?? 0);
}

function textIfVisible({ keys, caller }: Stream, { type, data, ...item }: Item, id: string): string {
  const isVisible = item.keys.some((key) => keys.includes(key)) && item.mayRead?.(caller) !== false;
  return isVisible ? serializeItem(id, type, data) : '';
}
