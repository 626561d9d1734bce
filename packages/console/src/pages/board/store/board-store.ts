import type { Engagement, Operator, Queue, QueueTicket } from '@usher/sdk/api-types';
import type { FeedItem } from '@usher/client/feed';
import { idle, isFull, Staffing, type Load, type Staff } from './staffing.ts';
import { SortedList } from './sorted-list.ts';
import { Topics } from './topics.ts';
import { WaitingTickets } from './waiting-tickets.ts';

export type Kind = 'queues' | 'tickets' | 'engagements' | 'operators';

interface Resources {
  readonly queues: Queue;
  readonly tickets: QueueTicket;
  readonly engagements: Engagement;
  readonly operators: Operator;
}

/** A read in progress. What the feed reports meanwhile is newer than what is read. */
interface ReadInProgress {
  readonly kind: Kind;
  /** The ids that the feed reported since the read began. */
  readonly reported: Set<string>;
  readonly found: Set<string>;
}

interface Options {
  /** The sites shown. */
  readonly siteIds: readonly string[];
  readonly schedule: (run: () => void) => void;
  /** Called when the feed reports an unknown queue, or changes beyond the live figures: queues must be read again. */
  readonly onQueuesStale: () => void;
}

const collator = new Intl.Collator();
const byName = (a: Operator, b: Operator): number =>
  collator.compare(a.name, b.name) || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
const newestFirst = (a: Engagement, b: Engagement): number => {
  if (a.started_at !== b.started_at) return a.started_at < b.started_at ? 1 : -1;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
};

/**
 * The data of the board, outside of React: read once, kept current by the feed, and published by topic at most once per frame.
 * Positions, staff and loads are updated on each change, so that rendering a row is a lookup.
 */
export class BoardStore {
  readonly topics: Topics;
  readonly queues = new Map<string, Queue>();
  readonly #waiting = new WaitingTickets();
  readonly #engagements = new Map<string, Engagement>();
  readonly #engagementsByOperator = new Map<string, Map<string, Engagement>>();
  readonly #sortedEngagements = new SortedList<Engagement>(newestFirst);
  readonly #operators = new Map<string, Operator>();
  readonly #sortedOperators = new SortedList<Operator>(byName);
  readonly #loads = new Map<string, Load>();
  readonly #staffing = new Staffing();
  readonly #readsInProgress = new Set<ReadInProgress>();
  readonly #loaded = new Set<Kind>();
  readonly #siteIds: ReadonlySet<string>;
  readonly #onQueuesStale: () => void;

  constructor({ siteIds, schedule, onQueuesStale }: Options) {
    this.topics = new Topics(schedule);
    this.#siteIds = new Set(siteIds);
    this.#onQueuesStale = onQueuesStale;
  }

  /** Whether all of a kind has been read. Before that, an empty list means nothing. */
  isLoaded(kind: Kind): boolean {
    return this.#loaded.has(kind);
  }

  tickets(queueId: string | null): readonly QueueTicket[] {
    return this.#waiting.list(queueId);
  }

  position(ticket: QueueTicket, queueId: string | null): number | null {
    return this.#waiting.position(ticket, queueId);
  }

  longestSince(queueId: string | null): string | null {
    return this.#waiting.longestSince(queueId);
  }

  staff(queueId: string): Staff {
    return this.#staffing.of(queueId);
  }

  engagements(): readonly Engagement[] {
    return this.#sortedEngagements.items;
  }

  operators(): readonly Operator[] {
    return this.#sortedOperators.items;
  }

  operator(id: string): Operator | undefined {
    return this.#operators.get(id);
  }

  load(operatorId: string): Load {
    return this.#loads.get(operatorId) ?? idle;
  }

  isFull(operator: Operator): boolean {
    return isFull(operator, this.load(operator.id));
  }

  /** Reads all of a kind. `read` passes pages on as they arrive; afterwards everything that was in no page is removed. */
  async readAll<K extends Kind>(
    kind: K,
    read: (add: (resources: readonly Resources[K][]) => void) => Promise<void>,
  ): Promise<void> {
    const reading: ReadInProgress = { kind, reported: new Set(), found: new Set() };
    this.#readsInProgress.add(reading);
    try {
      await read((resources) => this.#addRead(reading, kind, resources));
    } finally {
      this.#readsInProgress.delete(reading);
    }
    this.#loaded.add(kind);
    for (const id of this.#idsOf(kind)) if (!reading.found.has(id) && !reading.reported.has(id)) this.#remove(kind, id);
    this.topics.markDirty(kind);
  }

  #addRead<K extends Kind>({ found, reported }: ReadInProgress, kind: K, resources: readonly Resources[K][]): void {
    for (const resource of resources) {
      found.add(resource.id);
      if (!reported.has(resource.id)) this.#put(kind, resource);
      else if (kind === 'queues') this.#putReadQueue(resource as Queue);
    }
    if (kind === 'queues') this.#recountAllStaff();
  }

  /** Applies an item of the feed; other types are ignored. */
  apply({ type, data }: FeedItem): void {
    const resource = data as { readonly id: string };
    switch (type) {
      case 'queue.state':
        return this.#applyQueue(data as Partial<Queue> & { id: string; site_id: string; deleted?: boolean });
      case 'queue_ticket.state':
      case 'transfer_ticket.state':
        return this.#applyReported('tickets', resource as QueueTicket);
      case 'engagement.state':
        return this.#applyReported('engagements', resource as Engagement);
      case 'operator.state':
        return this.#applyReported('operators', resource as Operator);
      default:
    }
  }

  #applyReported<K extends Kind>(kind: K, resource: Resources[K]): void {
    for (const reading of this.#readsInProgress) if (reading.kind === kind) reading.reported.add(resource.id);
    this.#put(kind, resource);
  }

  /** The feed reports only the live figures of a queue. */
  #applyQueue({ deleted, ...figures }: Partial<Queue> & { id: string; site_id: string; deleted?: boolean }): void {
    if (!this.#siteIds.has(figures.site_id)) return;
    const stored = this.queues.get(figures.id);
    if (deleted === true) {
      for (const reading of this.#readsInProgress) if (reading.kind === 'queues') reading.reported.add(figures.id);
      return this.#remove('queues', figures.id);
    }
    if (stored === undefined || (figures.updated_at !== undefined && figures.updated_at > stored.updated_at))
      this.#onQueuesStale();
    if (stored === undefined) return;
    this.#applyReported('queues', { ...stored, ...figures, updated_at: stored.updated_at });
  }

  /**
   * Keeps the live figures that the feed reported during the read, and takes all other fields from the read. A queue that was
   * deleted meanwhile stays deleted.
   */
  #putReadQueue(read: Queue): void {
    const stored = this.queues.get(read.id);
    if (stored === undefined) return;
    const { status, self_status, available_properties, capacity, staffed, visitors_count, average_wait_time } = stored;
    const figures = { status, self_status, available_properties, capacity, staffed, visitors_count, average_wait_time };
    this.#put('queues', { ...read, ...figures });
  }

  #put<K extends Kind>(kind: K, resource: Resources[K]): void {
    if (kind === 'queues') this.queues.set(resource.id, resource as Queue);
    if (kind === 'tickets') this.#putTicket(resource as QueueTicket);
    if (kind === 'engagements') this.#putEngagement(resource as Engagement);
    if (kind === 'operators') this.#putOperator(resource as Operator);
    this.topics.markDirty(kind);
  }

  #putTicket(ticket: QueueTicket): void {
    if (this.#siteIds.has(ticket.site_id)) this.#waiting.put(ticket);
    else this.#waiting.remove(ticket.id);
    this.topics.markDirty('queues');
  }

  /** Removes an engagement that has ended or moved to a site that is not shown. */
  #putEngagement(engagement: Engagement): void {
    const before = this.#engagements.get(engagement.id);
    if (before !== undefined) {
      this.#sortedEngagements.remove(before);
      this.#engagementsByOperator.get(before.operator_id)?.delete(before.id);
    }
    this.#engagements.delete(engagement.id);
    if (engagement.state === 'active' && this.#siteIds.has(engagement.site_id)) {
      this.#engagements.set(engagement.id, engagement);
      this.#sortedEngagements.add(engagement);
      const engagements = this.#engagementsByOperator.get(engagement.operator_id) ?? new Map<string, Engagement>();
      this.#engagementsByOperator.set(engagement.operator_id, engagements.set(engagement.id, engagement));
    }
    for (const id of new Set([before?.operator_id ?? engagement.operator_id, engagement.operator_id]))
      this.#recountLoad(id);
  }

  #putOperator(operator: Operator): void {
    const before = this.#operators.get(operator.id);
    if (before !== undefined) this.#sortedOperators.remove(before);
    const isShown = operator.enabled && operator.assignments.some(({ site_id }) => this.#siteIds.has(site_id));
    if (!isShown) {
      this.#operators.delete(operator.id);
      this.#staffing.forget(operator.id);
      return;
    }
    this.#operators.set(operator.id, operator);
    this.#sortedOperators.add(operator);
    this.#recountStaff(operator);
  }

  #remove(kind: Kind, id: string): void {
    if (kind === 'queues') this.queues.delete(id);
    if (kind === 'tickets') this.#waiting.remove(id);
    const engagement = this.#engagements.get(id);
    if (kind === 'engagements' && engagement !== undefined) this.#putEngagement({ ...engagement, state: 'ended' });
    const operator = this.#operators.get(id);
    if (kind === 'operators' && operator !== undefined) this.#putOperator({ ...operator, enabled: false });
    this.topics.markDirty(kind);
  }

  /** Recounts the load of the operator. */
  #recountLoad(operatorId: string): void {
    const engagements = [...(this.#engagementsByOperator.get(operatorId)?.values() ?? [])];
    if (engagements.length === 0) this.#loads.delete(operatorId);
    else
      this.#loads.set(operatorId, {
        engagements: engagements.length,
        isInCall: engagements.some(({ media }) => media !== 'text'),
      });
    const operator = this.#operators.get(operatorId);
    if (operator !== undefined) this.#recountStaff(operator);
    this.topics.markDirty('operators');
  }

  #recountStaff(operator: Operator): void {
    this.#staffing.count(operator, this.load(operator.id), this.queues.values());
    this.topics.markDirty('queues');
  }

  #recountAllStaff(): void {
    for (const operator of this.#operators.values()) this.#recountStaff(operator);
  }

  #idsOf(kind: Kind): Iterable<string> {
    if (kind === 'tickets') return this.#waiting.ids();
    if (kind === 'queues') return this.queues.keys();
    return kind === 'engagements' ? this.#engagements.keys() : this.#operators.keys();
  }
}
