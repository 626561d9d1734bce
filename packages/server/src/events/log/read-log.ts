import type { Sql } from '../../platform/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { LoggedEvent } from './logged-event.ts';
import { dayMs, dayOf, endOfDay, type LogPosition } from './position.ts';
import { firstIn, lastUpTo, readWindow, type LogFilter } from './store.ts';

/** Events that are looked at for one page, whether they fit or not: tens of milliseconds. The next page goes on from there. */
const mostLooks = 20_000;
/** As many days, whether they have events or not: more than are kept, unless the settings say so. */
const mostDays = 40;
/** An event's time and its place in the log may differ by so much: longer than a transaction lasts, and clocks are apart. */
const slackMs = 120_000;

interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Where the next page goes on; `null`: there is no more. */
  readonly next: LogPosition | null;
}

/** A page of the log, newest first: from a position back to the beginning of what is asked for, a day at a time. */
export async function readLog(sql: Sql, filter: LogFilter, from: LogPosition, limit: number): Promise<LogPage> {
  const found: LoggedEvent[] = [];
  let looks = mostLooks;
  let position = from;
  for (let days = 0; position.day + dayMs > filter.since.getTime(); days += 1) {
    if (days === mostDays || looks === 0) return { events: found, next: position };
    const { day } = position;
    const window = {
      from: { day, before: position.before ?? (await latestIn(sql, filter, day)) },
      after: await earliestIn(sql, filter, day),
      looks,
      // One more than there is room for: whether it comes tells whether there is a next page.
      limit: limit - found.length + 1,
    };
    const { events, looked } = await readWindow(sql, filter, window);
    found.push(...events);
    if (found.length > limit) {
      const page = found.slice(0, limit);
      const last = page.at(-1);
      if (last === undefined) throw new Error('a page of no events was asked for');
      return { events: page, next: positionOf(last) };
    }
    const isWhole = looked === null || looked.count < looks;
    looks -= looked?.count ?? 0;
    position = isWhole ? { day: day - dayMs, before: null } : { day, before: looked.oldest };
  }
  return { events: found, next: null };
}

function positionOf({ occurred_at, xid, seq }: LoggedEvent): LogPosition {
  return { day: dayOf(occurred_at.getTime()), before: { xid: BigInt(xid), seq: BigInt(seq) } };
}

/** Before all of the day that is within the times asked for. */
async function earliestIn(sql: Sql, { accountId, since }: LogFilter, day: number): Promise<bigint> {
  const at = since.getTime() - slackMs;
  return at > day ? lastBefore(sql, accountId, day, at) : 0n;
}

/** Behind all of it. */
async function latestIn(sql: Sql, { accountId, until }: LogFilter, day: number): Promise<typeof endOfDay> {
  const at = until.getTime() + slackMs;
  if (at >= day + dayMs) return endOfDay;
  return { ...endOfDay, xid: await lastBefore(sql, accountId, day, at) };
}

/** Halves what is left of the day until it has found the last transaction before an instant; 0 if there is none. */
async function lastBefore(sql: Sql, accountId: AccountId, day: number, at: number): Promise<bigint> {
  const [oldest, newest] = await Promise.all([
    firstIn(sql, accountId, day),
    lastUpTo(sql, accountId, day, endOfDay.xid),
  ]);
  if (oldest === null || newest === null || oldest.at >= at) return 0n;
  if (newest.at < at) return newest.xid;
  // Whatever is up to `low` is before the instant, whatever is from `high` on is not.
  let low = oldest.xid;
  let high = newest.xid;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    const found = await lastUpTo(sql, accountId, day, middle);
    if (found === null || found.at < at) low = middle;
    else high = found.xid;
  }
  return low;
}
