import { isOfThisHistory } from '../events/log-point.ts';
import { databaseErrorCode } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { FollowerParts } from './follower.ts';
import { wantedBy } from './wanted.ts';
import { eventItems, written, type Item } from './items.ts';
import { eventsNamed, missedEvents, movesBetween, type Wanted } from './log.ts';
import { idOf, type Position } from './position.ts';
import { statesOf } from './states.ts';
import type { Stream } from './stream.ts';

/** Whoever was away for longer looks at everything anew. What moved is known for an hour. */
const longestAwayMs = 30 * 60_000;
/** Events read and sent at a time. */
const eventsAtOnce = 500;
/** Text is no snapshot, or one with numbers out of range: somebody has made up an id. */
const notASnapshot = new Set(['22P02', '22003', '22023']);

interface Missed {
  readonly accountId: AccountId;
  readonly stream: Stream;
  readonly from: Position;
  /** From here on the stream is sent what happens. */
  readonly upTo: Position;
}

/** Sends what a reader has missed, as fast as it reads. `false`: that is not known; it must look at everything anew. */
export async function sendMissed(parts: FollowerParts, missed: Missed): Promise<boolean> {
  const { from, upTo } = missed;
  // The position may lie a little ahead: the clock of the database may have been set back since.
  const awayMs = Math.abs(upTo.at - from.at);
  if (awayMs > longestAwayMs || from.version > upTo.version) return false;
  try {
    return await sendAll(parts, missed);
  } catch (error) {
    if (notASnapshot.has(databaseErrorCode(error) ?? '')) return false;
    throw error;
  }
}

async function sendAll(parts: FollowerParts, missed: Missed): Promise<boolean> {
  const { accountId, stream, from, upTo } = missed;
  for (const point of from.midway === undefined ? [from.seen] : [from.seen, from.midway.upTo]) {
    const isCurrent = point.epoch === upTo.seen.epoch && point.tag === upTo.seen.tag;
    if (!isCurrent && !(await isOfThisHistory(parts.sql, accountId, point))) return false;
  }
  const wanted = wantedBy([stream]);
  const moved = await movesBetween(parts.sql, accountId, from.version, upTo.version);
  if (moved === null) return false;
  let afterEvents = '';
  for (const leg of legsOf(from, upTo)) afterEvents = await sendEvents(parts, { ...missed, ...leg }, wanted);
  const states = await statesOf(parts, accountId, moved, wanted);
  for (let at = 0; at < states.length && !stream.closed; at += eventsAtOnce)
    await stream.sendMissed(
      states
        .slice(at, at + eventsAtOnce)
        .map((item) => textFor(stream, item, afterEvents))
        .join(''),
    );
  return true;
}

/**
 * Whoever was in the middle of a batch is sent the rest of that batch first. What committed since may have been written
 * before it, and an id can tell how far one is in one batch, not in two.
 */
function legsOf({ midway, ...from }: Position, upTo: Position): readonly Pick<Missed, 'from' | 'upTo'>[] {
  if (midway === undefined) return [{ from, upTo }];
  const between = { ...from, seen: midway.upTo };
  return [
    { from: { ...from, midway }, upTo: between },
    { from: between, upTo },
  ];
}

/** Answers the id of one who has read all of them. */
async function sendEvents(parts: FollowerParts, missed: Missed, wanted: Wanted): Promise<string> {
  const { accountId, stream, from, upTo } = missed;
  const midway = (seq: number): string =>
    idOf({ seen: from.seen, version: from.version, at: from.at, midway: { upTo: upTo.seen, seq } });
  const { xids, seqs } = await missedEvents(parts.sql, accountId, { from, upTo, wanted });
  for (let at = 0; at < seqs.length && !stream.closed; at += eventsAtOnce) {
    const part = [at, at + eventsAtOnce] as const;
    const events = await eventsNamed(parts.sql, accountId, {
      from,
      xids: xids.slice(...part),
      seqs: seqs.slice(...part),
    });
    const items = await Promise.all(events.map(async (event) => eventItems(event, parts.reveal)));
    const texts = items.flat().map((item) => textFor(stream, item, midway(item.seq)));
    await stream.sendMissed(texts.join(''));
  }
  return midway(seqs.at(-1) ?? from.midway?.seq ?? 0);
}

function textFor({ keys }: Stream, item: Item, id: string): string {
  return item.keys.some((key) => keys.includes(key)) ? written(id, item.type, item.data) : '';
}
