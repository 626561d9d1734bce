import type { Sql } from '../../platform/database/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { LoggedEvent } from './logged-event.ts';
import { dayMs, dayOf, endOfDay, type LogPosition } from './position.ts';
import { firstIn, lastUpTo, readWindow, type LogFilter } from './store.ts';

/** Events scanned for one page, matching or not: tens of milliseconds. The next page continues there. */
const maxScanned = 20_000;
/** Days scanned for one page, with or without events. By default fewer days are kept. */
const maxDays = 40;
/** The order by transaction and the order by time may differ by this much: longer than a transaction lasts plus the skew of clocks. */
const slackMs = 120_000;

interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Where the next page continues; `null`: this is the last page. */
  readonly next: LogPosition | null;
}

/** Reads a page of the log, newest first: from a position back to `since`, day by day. */
export async function readLog(sql: Sql, filter: LogFilter, from: LogPosition, limit: number): Promise<LogPage> {
  const found: LoggedEvent[] = [];
  let scanLimit = maxScanned;
  let position = from;
  for (let days = 0; position.day + dayMs > filter.since.getTime(); days += 1) {
    if (days === maxDays || scanLimit === 0) return { events: found, next: position };
    const { day } = position;
    const window = {
      from: { day, before: position.before ?? (await latestIn(sql, filter, day)) },
      after: await earliestIn(sql, filter, day),
      scanLimit,
      // One more than fits on the page: if it exists, there is a next page.
      limit: limit - found.length + 1,
    };
    const { events, scanned } = await readWindow(sql, filter, window);
    found.push(...events);
    if (found.length > limit) {
      const page = found.slice(0, limit);
      const last = page.at(-1);
      if (last === undefined) throw new Error('the limit of a page is 0');
      return { events: page, next: positionOf(last) };
    }
    const isDayDone = scanned === null || scanned.count < scanLimit;
    scanLimit -= scanned?.count ?? 0;
    position = isDayDone ? { day: day - dayMs, before: null } : { day, before: scanned.oldest };
  }
  return { events: found, next: null };
}

function positionOf({ occurred_at, xid, seq }: LoggedEvent): LogPosition {
  return { day: dayOf(occurred_at.getTime()), before: { xid: BigInt(xid), seq: BigInt(seq) } };
}

/** A transaction before all events of the day that are at or after `since`. */
async function earliestIn(sql: Sql, { accountId, since }: LogFilter, day: number): Promise<bigint> {
  const at = since.getTime() - slackMs;
  return at > day ? lastBefore(sql, accountId, day, at) : 0n;
}

/** A position after all events of the day that are before `until`. */
async function latestIn(sql: Sql, { accountId, until }: LogFilter, day: number): Promise<typeof endOfDay> {
  const at = until.getTime() + slackMs;
  if (at >= day + dayMs) return endOfDay;
  return { ...endOfDay, xid: await lastBefore(sql, accountId, day, at) };
}

/** The last transaction of the day before an instant, by binary search; 0 if there is none. */
async function lastBefore(sql: Sql, accountId: AccountId, day: number, at: number): Promise<bigint> {
  const [oldest, newest] = await Promise.all([
    firstIn(sql, accountId, day),
    lastUpTo(sql, accountId, day, endOfDay.xid),
  ]);
  if (oldest === null || newest === null || oldest.at >= at) return 0n;
  if (newest.at < at) return newest.xid;
  // Invariant: transactions up to `low` are before the instant, those from `high` on are not.
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
