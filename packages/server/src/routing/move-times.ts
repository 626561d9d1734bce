import { isOutage, readClock, recordOutage, type StoredClock } from '../platform/clock/clock-store.ts';
import type { Clock } from '../platform/clock/clock-watch.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { stepToleranceMs } from '../platform/clock/steady-clock.ts';
import { maxLastingRequestAge, maxRequestAge } from './storage/request.ts';
import type { LockedAccount } from './turn-store.ts';

/** The database's clock was stepped and the step is not recorded yet. The turn must be retried after it is. */
export class ClockStepped extends Error {
  override readonly name = 'ClockStepped';
}

/**
 * The statement that locks the account's row reads the clock before it waits for the lock. The last turn may therefore seem to be
 * later than now, by the duration of that wait. Up to this difference the clock is not read again.
 */
const lockWaitToleranceMs = 1_000;

/** The instant of a turn, after the times of the board were adjusted to the current clock. */
export interface TurnTime extends LockedAccount {
  /** Every stored time of the board was moved, so a board in memory is outdated. */
  readonly isMoved: boolean;
  /** The outages since the account's last turn, which leases and offers do not include yet. */
  readonly excuseMs: number;
}

/**
 * Determines the instant of a turn, under the lock of the account's row. If the clock was stepped since the account's last turn,
 * every deadline and start on the board is moved by the same amount first: a visitor who had waited for three minutes has still
 * waited for three minutes, and an offer with 20 s left still has 20 s. Opening hours follow the clock and are not moved.
 *
 * An outage that no process has recorded is recorded with the turn. The turn must excuse what it returns as `excuseMs`: afterwards the
 * account's row includes it.
 */
export async function correctTimes(sql: Sql, clock: Clock, locked: LockedAccount, askedAt: number): Promise<TurnTime> {
  if (clock.stepOf({ at: locked.now, shiftMs: locked.shiftMs }, askedAt) !== 0) throw new ClockStepped();
  const { turnedAt, shiftMs, boardShiftMs, outageMs, boardOutageMs } = locked;
  const isCorrect =
    shiftMs === boardShiftMs && outageMs === boardOutageMs && !isOutage({ at: locked.now, seenAt: locked.seenAt });
  if (isCorrect && aheadMs(locked) <= lockWaitToleranceMs)
    return { ...locked, now: notBefore(turnedAt, locked.now), isMoved: false, excuseMs: 0 };
  // Read again under the lock: the locking statement may have read the clock before the last turn was written.
  const readAt = performance.now();
  const reading = await readClock(sql);
  if (clock.stepOf(reading, readAt) !== 0) throw new ClockStepped();
  const recorded = await recordedOutages(sql, reading);
  if (recorded !== boardOutageMs)
    await sql`UPDATE accounts SET clock_outage_ms = ${recorded} WHERE id = ${locked.accountId}`;
  const current = { ...locked, now: reading.at, shiftMs: reading.shiftMs, outageMs: recorded };
  const byMs = missedSteps(current);
  const { accountId, version, nextVersion } = locked;
  if (byMs !== 0) await moveTimes(sql, { accountId, byMs, shiftMs: reading.shiftMs, version: nextVersion });
  const moved = turnedAt === null ? null : turnedAt + byMs;
  return {
    ...current,
    turnedAt: moved,
    nextDueAt: locked.nextDueAt === null ? null : locked.nextDueAt + byMs,
    ...(byMs === 0 ? { version, nextVersion } : { version: nextVersion, nextVersion: nextVersion + 1 }),
    now: notBefore(moved, current.now),
    isMoved: byMs !== 0,
    excuseMs: recorded - boardOutageMs,
  };
}

/** The sum of all outages, with the one that has just ended. */
async function recordedOutages(sql: Sql, reading: StoredClock): Promise<number> {
  if (!isOutage(reading)) return reading.outageMs;
  await recordOutage(sql);
  return (await readClock(sql)).outageMs;
}

function notBefore(turnedAt: number | null, now: number): number {
  return Math.max(Math.floor(now), turnedAt ?? 0);
}

function aheadMs({ turnedAt, now }: Pick<LockedAccount, 'turnedAt' | 'now'>): number {
  return turnedAt === null ? 0 : turnedAt - now;
}

/**
 * The amount by which the board's times must be moved: the recorded steps that they do not include. If the last turn is in the
 * future even then, its clock was never compared; the last turn is moved to now.
 */
export function missedSteps(account: Pick<LockedAccount, 'turnedAt' | 'now' | 'shiftMs' | 'boardShiftMs'>): number {
  const recorded = account.shiftMs - account.boardShiftMs;
  const ahead = aheadMs(account) + (account.turnedAt === null ? 0 : recorded);
  return ahead > stepToleranceMs ? recorded - Math.round(ahead) : recorded;
}

interface Move {
  readonly accountId: AccountId;
  readonly byMs: number;
  /** The recorded steps that the times include afterwards. */
  readonly shiftMs: number;
  /** The version of the board afterwards. */
  readonly version: number;
}

/**
 * Moves every time of the account's board. The version is raised without a row in `board_moves`: processes with the board in
 * memory find the gap and reload it.
 */
export async function moveTimes(sql: Sql, { accountId, byMs, shiftMs, version }: Move): Promise<void> {
  await sql`
    WITH step AS (
           SELECT id AS account_id, turned_at, ${byMs} * interval '1 millisecond' AS by FROM accounts WHERE id = ${accountId}),
         tickets AS (
           UPDATE queue_tickets t
              SET enqueued_at = enqueued_at + step.by,
                  entered_at = ARRAY(SELECT at + step.by FROM unnest(t.entered_at) WITH ORDINALITY AS u (at, n) ORDER BY n),
                  refusals = (SELECT coalesce(jsonb_object_agg(key, value::float8 + ${byMs}), '{}')
                                FROM jsonb_each_text(t.refusals))
             FROM step
            WHERE t.account_id = ${accountId} AND t.ended_at IS NULL
           RETURNING t.visitor_id, t.request_id),
         requests AS (
           UPDATE engagement_requests r
              SET created_at = created_at + step.by
             FROM step
            WHERE r.state = 'pending' AND r.id IN (
                    SELECT request_id FROM queue_tickets WHERE account_id = ${accountId} AND ended_at IS NULL
                    UNION ALL
                    SELECT id FROM engagement_requests
                     WHERE account_id = ${accountId} AND kind <> 'ticket'
                       AND created_at > step.turned_at - ${maxRequestAge}::interval
                    UNION ALL
                    SELECT id FROM lasting_requests
                     WHERE account_id = ${accountId}
                       AND created_at > step.turned_at - ${maxLastingRequestAge}::interval)
           RETURNING r.visitor_id),
         engaged AS (
           UPDATE engagements e
              SET started_at = started_at + step.by, sub_started_at = sub_started_at + step.by
             FROM step
            WHERE e.id IN (SELECT engagement_id FROM active_engagements WHERE account_id = ${accountId})
           RETURNING e.visitor_id),
         calls_going_on AS (
           UPDATE calls c
              SET started_at = started_at + step.by, connected_at = connected_at + step.by
             FROM step
            WHERE c.ended_at IS NULL
              AND c.engagement_id IN (SELECT engagement_id FROM active_engagements WHERE account_id = ${accountId})),
         operator_leases AS (
           UPDATE operators o
              SET presence_expires_at = presence_expires_at + step.by
             FROM step
            WHERE o.account_id = ${accountId} AND o.presence_expires_at IS NOT NULL),
         -- Ended intervals stay as recorded. The current interval keeps its length, and may overlap ended ones.
         presence AS (
           UPDATE presence_intervals i
              SET started_at = started_at + step.by,
                  overlapping = overlapping OR overlaps_recorded(operator_id, started_at + step.by)
             FROM step
            WHERE i.account_id = ${accountId} AND i.ended_at IS NULL),
         visitor_leases AS (
           UPDATE visitors v
              SET presence_expires_at = presence_expires_at + step.by
             FROM step
            WHERE v.presence_expires_at IS NOT NULL
              AND v.id IN (SELECT visitor_id FROM tickets
                           UNION SELECT visitor_id FROM requests
                           UNION SELECT visitor_id FROM engaged)),
         paces AS (
           UPDATE queue_states q
              SET left_others_at = left_others_at + step.by
             FROM step
            WHERE q.account_id = ${accountId} AND q.left_others_at IS NOT NULL)
    UPDATE accounts
       SET turned_at = accounts.turned_at + step.by, next_due_at = next_due_at + step.by,
           board_version = ${version}, board_tag = (SELECT tag FROM log_epoch_in_force), clock_shift_ms = ${shiftMs}
      FROM step
     WHERE id = ${accountId}`;
}
