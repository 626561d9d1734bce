import type { AccountId, SiteId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { isDatabaseUnavailable } from '../platform/database.ts';
import type { QueueOutput } from '../queues/queue.ts';
import type { SiteQueues } from '../queues/site-queues.ts';
import { opensToAll } from './audience.ts';
import { itemOf, type Item } from './items.ts';

interface Parts {
  readonly siteQueues: SiteQueues;
  readonly log: Log;
}

/** Queues of a site are looked at no more often than this, however much moves. */
const everyMs = 200;
/** By time alone a queue opens and closes, and what an operator said runs out. */
const byTimeMs = 2_000;

interface Site {
  watchers: number;
  /** What was last said of each queue, to operators and to visitors. */
  said: Map<string, readonly [operators: string, visitors: string]>;
  /** What was last looked at; `null`: nothing yet. */
  queues: readonly QueueOutput[] | null;
}

/** Tells the status of sites' queues when it has changed: all of it to operators, to visitors what decides whether to come in. */
export class QueueStates {
  readonly #parts: Parts;
  readonly #accountId: AccountId;
  readonly #deal: (items: readonly Item[]) => void;
  readonly #sites = new Map<string, Site>();
  #soon: NodeJS.Timeout | null = null;
  #byTime: NodeJS.Timeout | null = null;

  constructor(parts: Parts, accountId: AccountId, deal: (items: readonly Item[]) => void) {
    this.#parts = parts;
    this.#accountId = accountId;
    this.#deal = deal;
  }

  /** Of a site that nobody has watched so far every queue is news. */
  watch(siteId: string): void {
    const site = this.#sites.get(siteId) ?? { watchers: 0, said: new Map(), queues: null };
    site.watchers += 1;
    this.#sites.set(siteId, site);
    this.#byTime ??= setInterval(() => this.look(), byTimeMs).unref();
    if (site.queues === null) this.look();
  }

  /** From here on it is told what changes: for one who has yet to look at the queues and is told nothing before. */
  async begin(siteIds: readonly string[]): Promise<void> {
    for (const id of siteIds) {
      const site = this.#sites.get(id);
      if (site?.queues !== null) continue;
      const queues = await this.#parts.siteQueues.list(this.#accountId, id as SiteId);
      if (site.queues === null) this.#note(id, site, queues);
    }
  }

  unwatch(siteId: string): void {
    const site = this.#sites.get(siteId);
    if (site === undefined) return;
    site.watchers -= 1;
    if (site.watchers === 0) this.#sites.delete(siteId);
  }

  look(): void {
    this.#soon ??= setTimeout(() => void this.#lookNow(), everyMs).unref();
  }

  stop(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    if (this.#byTime !== null) clearInterval(this.#byTime);
    this.#soon = null;
    this.#byTime = null;
  }

  async #lookNow(): Promise<void> {
    try {
      for (const [id, site] of this.#sites) {
        const queues = await this.#parts.siteQueues.list(this.#accountId, id as SiteId);
        if (queues !== site.queues) this.#deal(this.#note(id, site, queues));
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#parts.log.error({ err: error }, 'queues could not be looked at');
    }
    this.#soon = null;
  }

  /** Remembers how the queues are; answers what is new in it. */
  #note(siteId: string, site: Site, queues: readonly QueueOutput[]): Item[] {
    const said = new Map<string, readonly [string, string]>();
    const items: Item[] = [];
    for (const queue of queues) {
      const { forOperators, forVisitors } = stateOf(queue);
      const now = [JSON.stringify(forOperators), JSON.stringify(forVisitors)] as const;
      const before = site.said.get(queue.id);
      said.set(queue.id, now);
      if (before?.[0] !== now[0]) items.push(itemOf('queue.state', forOperators, opensToAll(siteId, 'operator')));
      if (before?.[1] !== now[1]) items.push(itemOf('queue.state', forVisitors, opensToAll(siteId, 'visitor')));
    }
    for (const id of site.said.keys())
      if (!said.has(id)) {
        const keys = [...opensToAll(siteId, 'operator'), ...opensToAll(siteId, 'visitor')];
        items.push(itemOf('queue.state', { id, site_id: siteId, deleted: true }, keys));
      }
    site.said = said;
    site.queues = queues;
    return items;
  }
}

function stateOf({ id, site_id, status, self_status, available_properties, ...queue }: QueueOutput) {
  const forVisitors = { id, site_id, status, self_status, available_properties };
  const { capacity, staffed, visitors_count, average_wait_time, updated_at } = queue;
  // The last tells that something else of the queue was changed, so that whoever shows that can read it.
  const forOperators = { ...forVisitors, capacity, staffed, visitors_count, average_wait_time, updated_at };
  return { forVisitors, forOperators };
}
