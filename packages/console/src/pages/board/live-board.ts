import type { Api } from '@usher/client/api';
import { visitorName } from '../../components/visitor-name.ts';
import { NameCache } from './name-cache.ts';
import { readBoard, readQueues } from './read-board.ts';
import { BoardStore } from './store/board-store.ts';

/** Throttle: queues are read again at most this often. */
const staleMs = 300;

interface Options {
  readonly api: Api;
  readonly siteIds: readonly string[];
  /** `null` once a read succeeds again. */
  readonly onError: (error: unknown) => void;
}

/** The store of the board, and the reads that fill it. */
export class LiveBoard {
  readonly store: BoardStore;
  readonly names: NameCache;
  readonly #options: Options;
  #reads = new AbortController();
  #queuesTimer: ReturnType<typeof setTimeout> | null = null;
  #hasFailed = false;

  constructor(options: Options) {
    this.#options = options;
    const { api, siteIds } = options;
    this.store = new BoardStore({
      siteIds,
      schedule: (run) => requestAnimationFrame(run),
      onQueuesStale: () => this.#readQueuesSoon(),
    });
    this.names = new NameCache(async (ids) => {
      const { visitors } = await api.call('GET /visitors', { query: { ids } });
      return visitors.map((visitor) => ({ id: visitor.id, name: visitorName(visitor, visitor.id) }));
    }, this.store.topics);
  }

  read(what: 'all' | 'queues'): void {
    if (this.#reads.signal.aborted) this.#reads = new AbortController();
    const { signal } = this.#reads;
    const { api, siteIds, onError } = this.#options;
    // After a failed complete read, every read is a complete one.
    const isComplete = what === 'all' || this.#hasFailed;
    const reading = isComplete ? readBoard : readQueues;
    reading({ api, store: this.store, siteIds, signal }).then(
      () => {
        if (isComplete) this.#hasFailed = false;
        if (!this.#hasFailed) onError(null);
      },
      (error: unknown) => {
        if (signal.aborted) return;
        if (isComplete) this.#hasFailed = true;
        onError(error);
      },
    );
  }

  stop(): void {
    this.#reads.abort();
    if (this.#queuesTimer !== null) clearTimeout(this.#queuesTimer);
    this.#queuesTimer = null;
  }

  #readQueuesSoon(): void {
    if (this.#queuesTimer !== null) return;
    this.#queuesTimer = setTimeout(() => {
      this.#queuesTimer = null;
      this.read('queues');
    }, staleMs);
  }
}
