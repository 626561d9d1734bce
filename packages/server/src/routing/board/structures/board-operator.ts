import { newDeadline } from './deadlines.ts';
import { listOf, type Few } from './few.ts';
import type { Engagement, Operator, OperatorSettings, Pool, Queue, Request, Ticket } from './state.ts';
import type { TicketLine } from './ticket-line.ts';

/** An operator as they are added to the board. */
export class BoardOperator implements Operator {
  settings: OperatorSettings;
  present = false;
  free = false;
  texts = 0;
  exclusives = 0;
  lastEngagedAt = 0;
  pools: Pool[] = [];
  ranked: readonly Queue[];
  held: TicketLine<Ticket> | null = null;
  pending: Few<Request> = null;
  active: Few<Engagement> = null;
  teams: Operator['teams'] = null;
  dirtyIn: object | null = null;
  readonly leaseDeadline;
  readonly graceDeadline;

  constructor(settings: OperatorSettings, ranked: readonly Queue[]) {
    this.settings = settings;
    this.ranked = ranked;
    this.leaseDeadline = newDeadline('operator_lease', settings.id);
    this.graceDeadline = newDeadline('operator_grace', settings.id);
  }

  get requests(): readonly Request[] {
    return listOf(this.pending);
  }

  get engagements(): readonly Engagement[] {
    return listOf(this.active);
  }
}
