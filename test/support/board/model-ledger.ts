import type {
  CallId,
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  TicketId,
  VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import { newBoard, type Board } from '../../../packages/server/src/routing/board/board.ts';
import type { Changes } from '../../../packages/server/src/routing/board/structures/changes.ts';
import { callColumns } from '../../../packages/server/src/routing/storage/call.ts';
import {
  engagementColumns,
  putEngagement,
  type StoredEngagement,
} from '../../../packages/server/src/routing/storage/engagement.ts';
import { putQueueMemory } from '../../../packages/server/src/routing/storage/queue-state.ts';
import {
  putRequest,
  requestColumns,
  type StoredRequest,
} from '../../../packages/server/src/routing/storage/request.ts';
import { putSite } from '../../../packages/server/src/routing/storage/site.ts';
import { putTicket, ticketColumns, type StoredTicket } from '../../../packages/server/src/routing/storage/ticket.ts';
import { putVisitorLease } from '../../../packages/server/src/routing/storage/visitor.ts';
import { putOperator, putQueue } from '../../../packages/server/src/routing/board/rules/staffing.ts';
import type {
  Call,
  OperatorSettings,
  QueueMemory,
  QueueSettings,
  Site,
} from '../../../packages/server/src/routing/board/structures/state.ts';
import { noMemory } from './desk.ts';

/** The table does not tell when a request ended, but the model compares it. */
type RequestRow = StoredRequest & { readonly ended_at: number | null };

/** The rows that a turn has written and other processes must read. */
export interface Rows {
  readonly sites: readonly SiteId[];
  readonly queues: readonly QueueId[];
  /** Queues whose memory has changed, but not their settings. */
  readonly queueStates: readonly QueueId[];
  readonly operators: readonly OperatorId[];
  readonly engagements: readonly EngagementId[];
  readonly tickets: readonly TicketId[];
  readonly requests: readonly RequestId[];
  readonly visitors: readonly VisitorId[];
}

export const noRows: Rows = {
  sites: [],
  queues: [],
  queueStates: [],
  operators: [],
  engagements: [],
  tickets: [],
  requests: [],
  visitors: [],
};

/** Stands in for the database: it holds only the configuration and the changes that the board has reported. */
export class Ledger {
  readonly sites = new Map<SiteId, Site>();
  readonly queues = new Map<QueueId, QueueSettings>();
  readonly memories = new Map<QueueId, QueueMemory>();
  readonly operators = new Map<OperatorId, OperatorSettings>();
  readonly engagedAt = new Map<OperatorId, number>();
  readonly leases = new Map<VisitorId, number | null>();
  readonly tickets = new Map<TicketId, StoredTicket>();
  readonly requests = new Map<RequestId, RequestRow>();
  readonly engagements = new Map<EngagementId, StoredEngagement>();
  readonly calls = new Map<CallId, Call>();

  /** Writes the changes, and returns which rows they concern. */
  write(changes: Changes): Rows {
    for (const { id, settings, memory } of Array.from(changes.queues, (queue) => ({ ...queue, id: queue.settings.id })))
      if (this.queues.get(id) === settings) this.memories.set(id, { ...memory, waits: [...memory.waits] });
    for (const [id, { operator }] of changes.presences) {
      const { available, media, leaseUntil } = operator.settings;
      const known = this.operators.get(id);
      if (known !== undefined) this.operators.set(id, { ...known, available, media, leaseUntil });
    }
    for (const { settings } of changes.renewals) {
      const known = this.operators.get(settings.id);
      if (known !== undefined) this.operators.set(settings.id, { ...known, leaseUntil: settings.leaseUntil });
    }
    for (const { operatorId, startedAt } of changes.subEngagements) this.#recordStart(operatorId, startedAt);
    for (const { operator, subStartedAt } of changes.engagements) this.#recordStart(operator.settings.id, subStartedAt);
    for (const [id, until] of changes.visitorLeases) this.leases.set(id, until);
    for (const ticket of changes.tickets)
      this.tickets.set(ticket.id, {
        ...ticketColumns.toRow(ticket),
        visitor_teams: ticket.visitorTeams,
        lease_until: null,
      });
    for (const request of changes.requests)
      this.requests.set(request.id, {
        ...requestColumns.toRow(request),
        visitor_teams: [],
        lease_until: null,
        ended_at: request.endedAt,
      });
    for (const engagement of changes.engagements)
      this.engagements.set(engagement.id, {
        ...engagementColumns.toRow(engagement),
        lease_until: null,
        by_phone: false,
        call: null,
      });
    for (const call of changes.calls) this.calls.set(call.id, { ...call });
    return {
      ...noRows,
      queueStates: Array.from(changes.queues, (queue) => queue.settings.id),
      operators: [...changes.presences.keys(), ...Array.from(changes.renewals, ({ settings }) => settings.id)],
      engagements: Array.from(changes.engagements, ({ id }) => id),
      tickets: Array.from(changes.tickets, ({ id }) => id),
      requests: Array.from(changes.requests, ({ id }) => id),
      visitors: [...changes.visitorLeases.keys()],
    };
  }

  #recordStart(id: OperatorId, at: number): void {
    this.engagedAt.set(id, Math.max(this.engagedAt.get(id) ?? 0, at));
  }

  #allRows(): Rows {
    return {
      ...noRows,
      sites: [...this.sites.keys()],
      queues: [...this.queues.keys()],
      operators: [...this.operators.keys()],
      engagements: [...this.engagements.values()].flatMap(({ id, ended_at }) => (ended_at === null ? [id] : [])),
      tickets: [...this.tickets.keys()],
      requests: [...this.requests.keys()],
      visitors: [...this.leases.keys()],
    };
  }

  /** Puts rows on a board, in the order of their dependencies. */
  put(board: Board, rows: Rows): void {
    each(this.sites, rows.sites, (site) => putSite(board, site));
    each(this.queues, rows.queues, (settings) => putQueue(board, settings, this.#memoryOf(settings.id)));
    for (const id of rows.queueStates) putQueueMemory(board, id, this.#memoryOf(id));
    each(this.operators, rows.operators, (settings) =>
      putOperator(board, settings, this.engagedAt.get(settings.id) ?? 0),
    );
    const lease_until = (id: VisitorId): number | null => this.leases.get(id) ?? null;
    each(this.engagements, rows.engagements, (row) =>
      putEngagement(board, {
        ...row,
        lease_until: lease_until(row.visitor_id),
        by_phone: this.requests.get(row.request_id)?.notes.platform === 'sms',
        call: this.#callOf(row.id),
      }),
    );
    each(this.tickets, rows.tickets, (row) => putTicket(board, { ...row, lease_until: lease_until(row.visitor_id) }));
    each(this.requests, rows.requests, (row) =>
      putRequest(board, { ...row, lease_until: lease_until(row.visitor_id) }),
    );
    for (const id of rows.visitors) putVisitorLease(board, id, lease_until(id));
  }

  load(newId: () => string, now: number): Board {
    const board = newBoard(newId);
    board.now = now;
    this.put(board, this.#allRows());
    return board;
  }

  callsOf(id: EngagementId): readonly Call[] {
    return [...this.calls.values()].filter(({ engagementId }) => engagementId === id);
  }

  #callOf(engagementId: EngagementId): StoredEngagement['call'] {
    const call = this.callsOf(engagementId).find(({ endedAt }) => endedAt === null);
    return call === undefined ? null : callColumns.toRow(call);
  }

  #memoryOf(id: QueueId): QueueMemory {
    const memory = this.memories.get(id) ?? noMemory();
    return { ...memory, waits: [...memory.waits] };
  }
}

function each<Key, Row>(rows: ReadonlyMap<Key, Row>, keys: readonly Key[], act: (row: Row) => void): void {
  for (const key of keys) {
    const row = rows.get(key);
    if (row !== undefined) act(row);
  }
}
