import type { Board } from '../../../packages/server/src/routing/board/board.ts';
import { excuseOutage, type Outage } from '../../../packages/server/src/routing/board/rules/outage.ts';
import type { Ledger } from './model-ledger.ts';
import { excuse } from './reference-presence.ts';
import type { World } from './reference-world.ts';

/** Shifts the stored times after a step of the clock, as `move-times.ts` does in SQL, and the times of the reference. */

/** The opening hours in these histories are the same every day, so a step by whole days does not change them. */
export function moveLedger(ledger: Ledger, byMs: number, now: number): void {
  for (const [id, row] of ledger.tickets)
    // The refusals of an ended ticket have no effect, but they are compared.
    if (row.ended_at !== null) ledger.tickets.set(id, { ...row, refusals: {} });
    else
      ledger.tickets.set(id, {
        ...row,
        enqueued_at: row.enqueued_at + byMs,
        entered_at: row.entered_at.map((at) => at + byMs),
        refusals: Object.fromEntries(Object.entries(row.refusals).map(([operator, until]) => [operator, until + byMs])),
      });
  for (const [id, row] of ledger.requests)
    if (row.state === 'pending') ledger.requests.set(id, { ...row, created_at: row.created_at + byMs });
  for (const [id, row] of ledger.engagements)
    if (row.ended_at === null)
      ledger.engagements.set(id, {
        ...row,
        started_at: row.started_at + byMs,
        sub_started_at: row.sub_started_at + byMs,
      });
  for (const [id, call] of ledger.calls)
    if (call.endedAt === null) ledger.calls.set(id, { ...call, startedAt: call.startedAt + byMs });
  for (const [id, settings] of ledger.operators)
    ledger.operators.set(id, { ...settings, leaseUntil: later(settings.leaseUntil, byMs) });
  for (const [id, until] of ledger.leases) ledger.leases.set(id, later(until, byMs));
  for (const memory of ledger.memories.values()) memory.leftOthersAt = later(memory.leftOthersAt, byMs);
  // Ended engagements keep their times, but a board treats none of them as later than now.
  for (const [id, at] of ledger.engagedAt) ledger.engagedAt.set(id, Math.min(at, now));
  for (const row of ledger.engagements.values())
    if (row.ended_at === null)
      ledger.engagedAt.set(row.operator_id, Math.max(ledger.engagedAt.get(row.operator_id) ?? 0, row.sub_started_at));
}

export function moveWorld(world: World, byMs: number, now: number): void {
  for (const ticket of world.tickets) {
    if (ticket.endedAt !== null) {
      ticket.refusals.clear();
      continue;
    }
    for (const [operator, until] of ticket.refusals) if (until <= now - byMs) ticket.refusals.delete(operator);
    Object.assign(ticket, { enqueuedAt: ticket.enqueuedAt + byMs });
    ticket.entries = ticket.entries.map((entry) => ({ ...entry, enteredAt: entry.enteredAt + byMs }));
    for (const [operator, until] of ticket.refusals) ticket.refusals.set(operator, until + byMs);
  }
  for (const request of world.requests)
    if (request.state === 'pending') Object.assign(request, { createdAt: request.createdAt + byMs });
  for (const queue of world.queues) {
    queue.leftOthersAt = later(queue.leftOthersAt, byMs);
    queue.hoursAt = later(queue.hoursAt, byMs);
  }
  for (const operator of world.operators) {
    const { leaseUntil } = operator.settings;
    operator.settings = { ...operator.settings, leaseUntil: later(leaseUntil, byMs) };
    operator.lastEngagedAt = Math.min(operator.lastEngagedAt, now);
  }
  for (const [id, until] of world.leases) world.leases.set(id, later(until, byMs));
  for (const engagement of world.engagements) {
    if (engagement.endedAt !== null) continue;
    Object.assign(engagement, { startedAt: engagement.startedAt + byMs });
    engagement.subStartedAt += byMs;
    engagement.calls = engagement.calls.map((call) =>
      call.endedAt === null ? { ...call, startedAt: call.startedAt + byMs } : call,
    );
    const { operator } = engagement;
    operator.lastEngagedAt = Math.max(operator.lastEngagedAt, engagement.subStartedAt);
  }
}

function later(at: number | null, byMs: number): number | null {
  return at === null ? null : at + byMs;
}

/** The first turn after an outage of the service. */
export function excuseBoth(board: Board, world: World, outage: Outage): void {
  excuseOutage(board, outage);
  excuse(world, outage);
}
