import type { Board } from '../../../packages/server/src/routing/board/board.ts';
import type { Operator, Queue } from '../../../packages/server/src/routing/board/structures/state.ts';

/** The state of a board as plain values, in an order that does not depend on how it came about. */
export function describeBoard(board: Board): Record<string, unknown> {
  return {
    seq: board.seq,
    operators: described(board.operators.values(), ({ settings }) => settings.id, describeOperator),
    queues: described(board.queues.values(), ({ settings }) => settings.id, describeQueue),
    visitors: described(
      board.visitors.values(),
      ({ id }) => id,
      ({ leaseUntil, tickets, requests, engagements }) => ({
        leaseUntil,
        tickets: idsOf(tickets),
        requests: idsOf(requests),
        engagements: idsOf(engagements),
      }),
    ),
    tickets: described(
      board.tickets.values(),
      ({ id }) => id,
      (ticket) => ({
        state: ticket.state,
        seq: ticket.seq,
        visitor: ticket.visitor.id,
        enqueuedAt: ticket.enqueuedAt,
        entries: ticket.entries.map(({ queue, enteredAt, held }) => [queue.settings.id, enteredAt, held]),
        request: ticket.request?.id,
        engagement: ticket.engagement?.id,
        preferred: ticket.preferred,
        heldBy: ticket.heldBy?.settings.id,
        refusals: Object.fromEntries(ticket.refusals ?? []),
      }),
    ),
    requests: described(
      board.requests.values(),
      ({ id }) => id,
      (request) => ({
        state: request.state,
        operator: request.operator.settings.id,
        visitor: request.visitor.id,
        ticket: request.ticket?.id,
        engagement: request.engagement?.id,
        createdAt: request.createdAt,
        timeoutMs: request.timeoutMs,
        deadline: request.deadline.at,
      }),
    ),
    engagements: described(
      board.engagements.values(),
      ({ id }) => id,
      (engagement) => ({
        operator: engagement.operator.settings.id,
        visitor: engagement.visitor.id,
        startedAt: engagement.startedAt,
        subEngagement: engagement.subEngagementId,
        subStartedAt: engagement.subStartedAt,
        transfer: engagement.transfer?.id,
      }),
    ),
  };
}

function describeOperator(operator: Operator): unknown {
  const { settings, present, texts, exclusives, lastEngagedAt, free, requests, engagements } = operator;
  const { enabled, available, maxEngagements } = settings;
  return {
    settings: { enabled, available, maxEngagements },
    present,
    texts,
    exclusives,
    lastEngagedAt,
    free,
    requests: idsOf(requests),
    engagements: idsOf(engagements),
  };
}

function describeQueue({ memory, open, visitors }: Queue): unknown {
  return { memory, open, visitors };
}

function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id).toSorted();
}

function described<Item>(
  items: Iterable<Item>,
  idOf: (item: Item) => string,
  describe: (item: Item) => unknown,
): Record<string, unknown> {
  const entries = Array.from(items, (item) => [idOf(item), describe(item)] as const);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
