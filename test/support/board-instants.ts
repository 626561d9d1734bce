import type { Board } from '../../packages/server/src/routing/board/board.ts';

/** Every instant on a board, by the name of its object. */
export function instantsOf(board: Board): Record<string, number | null> {
  const found: Record<string, number | null> = {};
  for (const { settings, memory } of board.queues.values())
    found[`queue ${settings.id} left others`] = memory.leftOthersAt;
  for (const { settings, leaseDeadline, graceDeadline } of board.operators.values()) {
    found[`operator ${settings.id} lease`] = settings.leaseUntil;
    found[`operator ${settings.id} lease ends`] = leaseDeadline.at;
    found[`operator ${settings.id} grace ends`] = graceDeadline.at;
  }
  for (const visitor of board.visitors.values()) {
    found[`visitor ${visitor.id} lease`] = visitor.leaseUntil;
    found[`visitor ${visitor.id} lease ends`] = visitor.leaseDeadline?.at ?? null;
  }
  for (const ticket of board.tickets.values()) {
    found[`ticket ${ticket.id} enqueued`] = ticket.enqueuedAt;
    for (const { queue, enteredAt } of ticket.entries) found[`ticket ${ticket.id} in ${queue.settings.id}`] = enteredAt;
    for (const [operator, until] of ticket.refusals ?? []) found[`ticket ${ticket.id} spares ${operator}`] = until;
    found[`ticket ${ticket.id} kept until`] = ticket.affinityDeadline?.at ?? null;
    found[`ticket ${ticket.id} spared until`] = ticket.refusalDeadline?.at ?? null;
  }
  for (const request of board.requests.values()) {
    found[`request ${request.id} created`] = request.createdAt;
    found[`request ${request.id} times out`] = request.deadline.at;
  }
  for (const { id, startedAt, subStartedAt } of board.engagements.values()) {
    found[`engagement ${id} started`] = startedAt;
    found[`engagement ${id} sub-engagement started`] = subStartedAt;
  }
  for (const [site, { deadline }] of board.expiries) found[`tickets of ${site} expire`] = deadline.at;
  return found;
}
