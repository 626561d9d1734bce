import type { Engagement, Operator, Queue, QueueTicket } from '@usher/client/api-types';
import type { FeedItem } from '@usher/client/feed';
import { idle, isFull, Staffing, type Load, type Staff } from './staffing.ts';
import { SortedList } from './sorted-list.ts';
import { Topics } from './topics.ts';
import { Waiting } from './waiting.ts';

export type Kind = 'queues' | 'tickets' | 'engagements' | 'operators';

interface Things {
  readonly queues: Queue;
  readonly tickets: QueueTicket;
  readonly engagements: Engagement;
  readonly operators: Operator;
}

/** A read in progress. What the feed reports meanwhile is newer than what is read. */
interface Reading {
  readonly kind: Kind;
  /** The ids that the feed reported since the read began. */
  readonly told: Set<string>;
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
  readonly #waiting = new Waiting();
  readonly #engagements = new Map<string, Engagement>();
  readonly #ofOperator = new Map<string, Map<string, Engagement>>();
  readonly #engaged = new SortedList<Engagement>(newestFirst);
  readonly #operators = new Map<string, Operator>();
  readonly #people = new SortedList<Operator>(byName);
  readonly #loads = new Map<string, Load>();
  readonly #staffing = new Staffing();
  readonly #readings = new Set<Reading>();
  readonly #read = new Set<Kind>();
  readonly #siteIds: ReadonlySet<string>;
  readonly #onQueuesStale: () => void;

  constructor({ siteIds, schedule, onQueuesStale }: Options) {
    this.topics = new Topics(schedule);
    this.#siteIds = new Set(siteIds);
    this.#onQueuesStale = onQueuesStale;
  }

  /** Whether all of a kind has been read. Before that, an empty list means nothing. */
  has(kind: Kind): boolean {
    return this.#read.has(kind);
  }

  tickets(queueId: string | null): readonly QueueTicket[] {
    return this.#waiting.in(queueId);
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
    return this.#engaged.items;
  }

  operators(): readonly Operator[] {
    return this.#people.items;
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
  async reading<K extends Kind>(
    kind: K,
    read: (add: (things: readonly Things[K][]) => void) => Promise<void>,
  ): Promise<void> {
    const reading: Reading = { kind, told: new Set(), found: new Set() };
    this.#readings.add(reading);
    try {
      await read((things) => this.#addRead(reading, kind, things));
    } finally {
      this.#readings.delete(reading);
    }
    this.#read.add(kind);
    for (const id of this.#idsOf(kind)) if (!reading.found.has(id) && !reading.told.has(id)) this.#remove(kind, id);
    this.topics.touch(kind);
  }

  #addRead<K extends Kind>({ found, told }: Reading, kind: K, things: readonly Things[K][]): void {
    for (const thing of things) {
      found.add(thing.id);
      if (!told.has(thing.id)) this.#put(kind, thing);
      else if (kind === 'queues') this.#putReadQueue(thing as Queue);
    }
    if (kind === 'queues') this.#restaffAll();
  }

  /** Applies an item of the feed; other types are ignored. */
  apply({ type, data }: FeedItem): void {
    const thing = data as { readonly id: string };
    switch (type) {
      case 'queue.state':
        return this.#applyQueue(data as Partial<Queue> & { id: string; site_id: string; deleted?: boolean });
      case 'queue_ticket.state':
      case 'transfer_ticket.state':
        return this.#tell('tickets', thing as QueueTicket);
      case 'engagement.state':
        return this.#tell('engagements', thing as Engagement);
      case 'operator.state':
        return this.#tell('operators', thing as Operator);
      default:
    }
  }

  #tell<K extends Kind>(kind: K, thing: Things[K]): void {
    for (const reading of this.#readings) if (reading.kind === kind) reading.told.add(thing.id);
    this.#put(kind, thing);
  }

  /** The feed reports only the live figures of a queue. */
  #applyQueue({ deleted, ...told }: Partial<Queue> & { id: string; site_id: string; deleted?: boolean }): void {
    if (!this.#siteIds.has(told.site_id)) return;
    const known = this.queues.get(told.id);
    if (deleted === true) {
      for (const reading of this.#readings) if (reading.kind === 'queues') reading.told.add(told.id);
      return this.#remove('queues', told.id);
    }
    if (known === undefined || (told.updated_at !== undefined && told.updated_at > known.updated_at))
      this.#onQueuesStale();
    if (known === undefined) return;
    this.#tell('queues', { ...known, ...told, updated_at: known.updated_at });
  }

  /**
   * Keeps the live figures that the feed reported during the read, and takes all other fields from the read. A queue that was
   * deleted meanwhile stays deleted.
   */
  #putReadQueue(read: Queue): void {
    const told = this.queues.get(read.id);
    if (told === undefined) return;
    const { status, self_status, available_properties, capacity, staffed, visitors_count, average_wait_time } = told;
    const figures = { status, self_status, available_properties, capacity, staffed, visitors_count, average_wait_time };
    this.#put('queues', { ...read, ...figures });
  }

  #put<K extends Kind>(kind: K, thing: Things[K]): void {
    if (kind === 'queues') this.queues.set(thing.id, thing as Queue);
    if (kind === 'tickets') this.#putTicket(thing as QueueTicket);
    if (kind === 'engagements') this.#putEngagement(thing as Engagement);
    if (kind === 'operators') this.#putOperator(thing as Operator);
    this.topics.touch(kind);
  }

  #putTicket(ticket: QueueTicket): void {
    if (this.#siteIds.has(ticket.site_id)) this.#waiting.put(ticket);
    else this.#waiting.remove(ticket.id);
    this.topics.touch('queues');
  }

  /** Removes an engagement that has ended or moved to a site that is not shown. */
  #putEngagement(engagement: Engagement): void {
    const before = this.#engagements.get(engagement.id);
    if (before !== undefined) {
      this.#engaged.remove(before);
      this.#ofOperator.get(before.operator_id)?.delete(before.id);
    }
    this.#engagements.delete(engagement.id);
    if (engagement.state === 'active' && this.#siteIds.has(engagement.site_id)) {
      this.#engagements.set(engagement.id, engagement);
      this.#engaged.add(engagement);
      const theirs = this.#ofOperator.get(engagement.operator_id) ?? new Map<string, Engagement>();
      this.#ofOperator.set(engagement.operator_id, theirs.set(engagement.id, engagement));
    }
    for (const id of new Set([before?.operator_id ?? engagement.operator_id, engagement.operator_id])) this.#reload(id);
  }

  #putOperator(operator: Operator): void {
    const before = this.#operators.get(operator.id);
    if (before !== undefined) this.#people.remove(before);
    const isHere = operator.enabled && operator.assignments.some(({ site_id }) => this.#siteIds.has(site_id));
    if (!isHere) {
      this.#operators.delete(operator.id);
      this.#staffing.forget(operator.id);
      return;
    }
    this.#operators.set(operator.id, operator);
    this.#people.add(operator);
    this.#restaff(operator);
  }

  #remove(kind: Kind, id: string): void {
    if (kind === 'queues') this.queues.delete(id);
    if (kind === 'tickets') this.#waiting.remove(id);
    const engagement = this.#engagements.get(id);
    if (kind === 'engagements' && engagement !== undefined) this.#putEngagement({ ...engagement, state: 'ended' });
    const operator = this.#operators.get(id);
    if (kind === 'operators' && operator !== undefined) this.#putOperator({ ...operator, enabled: false });
    this.topics.touch(kind);
  }

  /** Recounts the load of the operator. */
  #reload(operatorId: string): void {
    const theirs = [...(this.#ofOperator.get(operatorId)?.values() ?? [])];
    if (theirs.length === 0) this.#loads.delete(operatorId);
    else
      this.#loads.set(operatorId, {
        engagements: theirs.length,
        speaking: theirs.some(({ media }) => media !== 'text'),
      });
    const operator = this.#operators.get(operatorId);
    if (operator !== undefined) this.#restaff(operator);
    this.topics.touch('operators');
  }

  #restaff(operator: Operator): void {
    this.#staffing.count(operator, this.load(operator.id), this.queues.values());
    this.topics.touch('queues');
  }

  #restaffAll(): void {
    for (const operator of this.#operators.values()) this.#restaff(operator);
  }

  #idsOf(kind: Kind): Iterable<string> {
    if (kind === 'tickets') return this.#waiting.ids();
    if (kind === 'queues') return this.queues.keys();
    return kind === 'engagements' ? this.#engagements.keys() : this.#operators.keys();
  }
}
