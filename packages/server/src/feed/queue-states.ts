import type { AccountId, SiteId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { isDatabaseUnavailable } from '../platform/database/database.ts';
import type { QueueOutput } from '../queues/queue.ts';
import type { SiteQueues } from '../queues/site-queues.ts';
import { opensToAll } from './audience.ts';
import { itemOf, type Item } from './items.ts';

interface QueueStatesDependencies {
  readonly siteQueues: SiteQueues;
  readonly log: Log;
}

/** Throttles the checks of a site's queues. */
const checkEveryMs = 200;
/** Queues open and close, and presence expires, by time alone: nobody notifies us, so the queues are polled. */
const pollMs = 2_000;

interface SentState {
  readonly forOperators: string;
  readonly forVisitors: string;
}

interface WatchedSite {
  watchers: number;
  /** The last sent state of each queue. */
  sent: Map<string, SentState>;
  /** The queues at the last check; `null`: not checked yet. */
  queues: readonly QueueOutput[] | null;
}

/** Sends the states of queues when they have changed: all fields to operators, to visitors the fields that decide whether to enter. */
export class QueueStates {
  readonly #deps: QueueStatesDependencies;
  readonly #accountId: AccountId;
  readonly #send: (items: readonly Item[]) => void;
  readonly #sites = new Map<string, WatchedSite>();
  #checkTimer: NodeJS.Timeout | null = null;
  #pollTimer: NodeJS.Timeout | null = null;

  constructor(deps: QueueStatesDependencies, accountId: AccountId, send: (items: readonly Item[]) => void) {
    this.#deps = deps;
    this.#accountId = accountId;
    this.#send = send;
  }

  /** If the site had no watcher before, every queue of the site is sent. */
  watch(siteId: string): void {
    const site = this.#sites.get(siteId) ?? { watchers: 0, sent: new Map(), queues: null };
    site.watchers += 1;
    this.#sites.set(siteId, site);
    this.#pollTimer ??= setInterval(() => this.scheduleCheck(), pollMs).unref();
    if (site.queues === null) this.scheduleCheck();
  }

  /** Reads the queues without sending them: a new reader reads them by GET, and is sent only changes. */
  async begin(siteIds: readonly string[]): Promise<void> {
    for (const id of siteIds) {
      const site = this.#sites.get(id);
      if (site?.queues !== null) continue;
      const queues = await this.#deps.siteQueues.list(this.#accountId, id as SiteId);
      if (site.queues === null) this.#remember(id, site, queues);
    }
  }

  unwatch(siteId: string): void {
    const site = this.#sites.get(siteId);
    if (site === undefined) return;
    site.watchers -= 1;
    if (site.watchers === 0) this.#sites.delete(siteId);
  }

  scheduleCheck(): void {
    this.#checkTimer ??= setTimeout(() => void this.#check(), checkEveryMs).unref();
  }

  stop(): void {
    if (this.#checkTimer !== null) clearTimeout(this.#checkTimer);
    if (this.#pollTimer !== null) clearInterval(this.#pollTimer);
    this.#checkTimer = null;
    this.#pollTimer = null;
    this.#sites.clear();
  }

  async #check(): Promise<void> {
    try {
      for (const [id, site] of this.#sites) {
        const queues = await this.#deps.siteQueues.list(this.#accountId, id as SiteId);
        if (queues !== site.queues) this.#send(this.#remember(id, site, queues));
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#deps.log.error({ err: error }, 'could not read the states of queues');
    }
    this.#checkTimer = null;
  }

  /** Remembers the states of the queues; returns items for those that changed. */
  #remember(siteId: string, site: WatchedSite, queues: readonly QueueOutput[]): Item[] {
    const sent = new Map<string, SentState>();
    const items: Item[] = [];
    for (const queue of queues) {
      const before = site.sent.get(queue.id);
      const { forOperators, forVisitors } = stateOf(queue);
      const now = { forOperators: JSON.stringify(forOperators), forVisitors: JSON.stringify(forVisitors) };
      sent.set(queue.id, now);
      if (before?.forOperators !== now.forOperators)
        items.push(itemOf('queue.state', forOperators, opensToAll(siteId, 'operator')));
      if (before?.forVisitors !== now.forVisitors)
        items.push(itemOf('queue.state', forVisitors, opensToAll(siteId, 'visitor')));
    }
    for (const id of site.sent.keys())
      if (!sent.has(id)) {
        const keys = [...opensToAll(siteId, 'operator'), ...opensToAll(siteId, 'visitor')];
        items.push(itemOf('queue.state', { id, site_id: siteId, deleted: true }, keys));
      }
    site.sent = sent;
    site.queues = queues;
    return items;
  }
}

function stateOf({ id, site_id, status, self_status, available_properties, ...queue }: QueueOutput) {
  const forVisitors = { id, site_id, status, self_status, available_properties };
  const { capacity, staffed, visitors_count, average_wait_time, updated_at } = queue;
  // `updated_at` changes with every other field of the queue, so that a client knows when to read the queue again.
  const forOperators = { ...forVisitors, capacity, staffed, visitors_count, average_wait_time, updated_at };
  return { forVisitors, forOperators };
}
