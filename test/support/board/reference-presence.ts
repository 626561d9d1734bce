import type { Command } from '../../../packages/server/src/routing/board/commands.ts';
import type { Outage } from '../../../packages/server/src/routing/board/rules/outage.ts';
import { updatePresence } from './reference-transitions.ts';
import { activeTickets, ongoing, pending, siteOf, type World } from './reference-world.ts';

/** The leases of the reference. */

export const graceMs = 30_000;
const longestOfferMs = 7_200_000;

/** While a visitor has a ticket that needs presence, a lease lasts two minutes at most. */
export function setVisitorLease(world: World, visitorId: string, leaseMs: number): void {
  const tickets = activeTickets(world).filter((each) => each.kind === 'visitor' && each.visitorId === visitorId);
  const isShort = tickets.some(({ siteId }) => siteOf(world, siteId).ticketNeedsPresence);
  world.leases.set(visitorId, world.now + (isShort ? Math.min(leaseMs, 120_000) : leaseMs));
}

export function renewPresence(world: World, { operatorIds, visitorIds, leaseMs }: Command<'renewPresence'>): void {
  const until = world.now + leaseMs;
  for (const operator of world.operators.filter(({ settings: { id } }) => operatorIds.includes(id))) {
    const { enabled, available, leaseUntil } = operator.settings;
    if (leaseUntil === null || leaseUntil >= until) continue;
    const hasEnded = leaseUntil <= world.now;
    const isInGrace = ongoing(world).some((each) => each.operator === operator && each.subStartedAt < leaseUntil);
    if (hasEnded && (!enabled || (available && !isInGrace))) continue;
    operator.settings = { ...operator.settings, leaseUntil: until };
    updatePresence(world, operator);
  }
  for (const id of visitorIds) {
    const isHere = [...activeTickets(world), ...pending(world), ...ongoing(world)].some(
      (each) => each.visitorId === id,
    );
    if (isHere && (world.leases.get(id) ?? 0) < until) setVisitorLease(world, id, leaseMs);
  }
}

/** D5.15. */
export function excuse(world: World, outage: Outage): void {
  for (const operator of world.operators) {
    const engaged = ongoing(world).filter((each) => each.operator === operator);
    const begun = [
      ...engaged.map(({ subStartedAt }) => subStartedAt),
      ...pending(world).flatMap((each) => (each.operator === operator ? [each.createdAt] : [])),
    ];
    const { leaseUntil } = operator.settings;
    const isInGrace = engaged.some(({ subStartedAt }) => subStartedAt < (leaseUntil ?? 0));
    operator.settings = { ...operator.settings, leaseUntil: excusedLease(leaseUntil, outage, { isInGrace, begun }) };
  }
  for (const [id, leaseUntil] of world.leases) {
    const isTheirs = ({ visitorId }: { readonly visitorId: string }): boolean => visitorId === id;
    const engaged = ongoing(world).filter((each) => isTheirs(each) && !each.request.lasting);
    const tickets = activeTickets(world).filter(isTheirs);
    const requests = pending(world).filter(isTheirs);
    if (engaged.length + tickets.length + requests.length === 0 && !ongoing(world).some(isTheirs)) continue;
    const begun = [
      ...engaged.map(({ startedAt }) => startedAt),
      ...tickets.map(({ enqueuedAt }) => enqueuedAt),
      ...requests.map(({ createdAt }) => createdAt),
    ];
    const isInGrace = engaged.some(({ startedAt }) => startedAt < (leaseUntil ?? 0));
    world.leases.set(id, excusedLease(leaseUntil, outage, { isInGrace, begun }));
  }
  for (const request of pending(world))
    if (!request.lasting) request.timeoutMs = Math.min(request.timeoutMs + outage.outageMs, longestOfferMs);
}

interface Holder {
  readonly isInGrace: boolean;
  readonly begun: readonly number[];
}

function excusedLease(
  leaseUntil: number | null,
  { outageMs, lastTurnAt }: Outage,
  { isInGrace, begun }: Holder,
): number | null {
  if (leaseUntil === null) return null;
  if (leaseUntil > lastTurnAt) return leaseUntil + outageMs;
  if (!isInGrace || leaseUntil + graceMs <= lastTurnAt) return leaseUntil;
  return Math.min(leaseUntil + outageMs, ...begun.filter((at) => at >= leaseUntil));
}
