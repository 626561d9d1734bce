import { readClock } from '../platform/clock-store.ts';
import type { Clock } from '../platform/clock-watch.ts';
import type { Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { stepToleranceMs } from '../platform/steady-clock.ts';
import { longestLasting, longestRequest } from './load-board.ts';
import type { LockedAccount } from './turn-store.ts';

/** The database's clock was stepped, and nobody has recorded it: the turn must be taken again after that. */
export class ClockStepped extends Error {
  override readonly name = 'ClockStepped';
}

/**
 * The statement that locks the account's row reads the clock before it waits for the lock. The last turn may therefore look
 * younger than now, by as long as that wait. Up to this difference nobody looks again.
 */
const unremarkableMs = 1_000;

/** When a turn takes place, on a board whose times are by the clock as it is now. */
export interface TurnTime extends LockedAccount {
  /** Every stored time of the board was moved: a board in memory shows the old ones. */
  readonly isMoved: boolean;
}

/**
 * The instant of a turn, under the lock of the account's row. If the clock was stepped since the account's last turn, every
 * deadline and start on the board is moved by the same amount first: who has waited for three minutes has then still waited
 * for three minutes, and an offer that had 20 s left has them still. Opening hours are not moved, they go by the clock.
 */
export async function settleTime(sql: Sql, clock: Clock, locked: LockedAccount, askedAt: number): Promise<TurnTime> {
  if (clock.stepOf({ at: locked.now, shiftMs: locked.shiftMs }, askedAt) !== 0) throw new ClockStepped();
  const { turnedAt, shiftMs, boardShiftMs } = locked;
  if (shiftMs === boardShiftMs && aheadMs(locked) <= unremarkableMs)
    return { ...locked, now: notBefore(turnedAt, locked.now), isMoved: false };
  // Read under the lock: what the locking statement saw of the clock may be older than what the row says.
  const readAt = performance.now();
  const reading = await readClock(sql);
  if (clock.stepOf(reading, readAt) !== 0) throw new ClockStepped();
  const current = { ...locked, now: reading.at, shiftMs: reading.shiftMs };
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
  };
}

function notBefore(turnedAt: number | null, now: number): number {
  return Math.max(Math.floor(now), turnedAt ?? 0);
}

function aheadMs({ turnedAt, now }: Pick<LockedAccount, 'turnedAt' | 'now'>): number {
  return turnedAt === null ? 0 : turnedAt - now;
}

/**
 * By how much the board's times must be moved: by the recorded steps that they do not include. A last turn that lies in the
 * future even so was taken by a clock that nobody compared: it becomes now.
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
 * Moves every time of the account's board. The version is raised without a row in `board_moves`: processes that hold the
 * board find the gap and read everything again.
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
                       AND created_at > step.turned_at - ${longestRequest}::interval
                    UNION ALL
                    SELECT id FROM lasting_requests
                     WHERE account_id = ${accountId}
                       AND created_at > step.turned_at - ${longestLasting}::interval)
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
         -- What ended before stays as it was recorded; what goes on keeps its length, and may overlap what ended.
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
