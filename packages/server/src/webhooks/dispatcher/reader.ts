import { beginEpoch } from '../../events/log-point.ts';
import type { Sql } from '../../platform/database.ts';
import { mostBlockedLanes, type Destination } from './destination.ts';
import type { Holdings } from './holdings.ts';
import { laneBatch, readBlockedLanes, readDeliveries, readLane, type DeliveryQuery } from './store.ts';
import { Watermark } from './watermark.ts';

/** Destinations in one read. */
const readsAtOnce = 200;

interface ReaderParts {
  readonly sql: Sql;
  readonly holdings: Holdings;
  readonly onBatch: (size: number) => void;
  /** The log has begun another epoch: what is held may be of a history that is lost. */
  readonly onNewEpoch: () => void;
}

/** Brings what is due from the database to the destinations it is for. Called by one loop, never twice at a time. */
export class Reader {
  readonly #sql: Sql;
  readonly #holdings: Holdings;
  readonly #onBatch: (size: number) => void;
  readonly #onNewEpoch: () => void;
  #watermark = new Watermark();
  /** The epoch of the log at the last read, `null` where none was in force; `undefined`: nothing was read yet. */
  #tag: string | null | undefined;

  constructor({ sql, holdings, onBatch, onNewEpoch }: ReaderParts) {
    this.#sql = sql;
    this.#holdings = holdings;
    this.#onBatch = onBatch;
    this.#onNewEpoch = onNewEpoch;
  }

  /** Answers the destinations that were read for. */
  async read(now: number): Promise<readonly Destination[]> {
    await this.#loadHeads();
    const reads: { readonly destination: Destination; readonly query: DeliveryQuery }[] = [];
    for (const destination of this.#holdings.dirty) {
      if (reads.length >= readsAtOnce) break;
      const query = destination.takeQuery(now);
      if (query === null) continue;
      this.#holdings.dirty.delete(destination);
      reads.push({ destination, query });
    }
    if (reads.length === 0) return [];
    const read = await readDeliveries(
      this.#sql,
      reads.map(({ query }) => query),
    ).catch((error: unknown) => {
      for (const { destination } of reads) destination.rescan();
      throw error;
    });
    await this.#noteEpoch(read.moment.tag);
    this.#watermark.note(read.moment);
    this.#onBatch(read.deliveries.length);
    const found = Map.groupBy(read.deliveries, ({ destinationId }) => destinationId);
    const { safe } = this.#watermark;
    for (const { destination, query } of reads) destination.receive(found.get(destination.id) ?? [], query, safe);
    return reads.map(({ destination }) => destination);
  }

  /**
   * After a crash, a failover or a restore numbers of the log may be given out again that were passed already, and what is
   * held may never have been. So everything is read from the beginning, and nothing is taken of the read that has found out
   * (see `Destination.receive`).
   */
  async #noteEpoch(tag: string | null): Promise<void> {
    if (tag === null) await beginEpoch(this.#sql);
    else if (tag === this.#tag) return;
    const isFirst = this.#tag === undefined;
    this.#tag = tag;
    if (isFirst) return;
    this.#watermark = new Watermark();
    for (const destination of this.#holdings.all) destination.rescan();
    this.#onNewEpoch();
  }

  /** Reads what was let go of lanes that could go on. Answers their destinations. */
  async resumeLanes(): Promise<readonly Destination[]> {
    const resumed = [...this.#holdings.resuming];
    for (const destination of resumed) {
      this.#holdings.resuming.delete(destination);
      const lanes = destination.takeResuming();
      for (const [index, lane] of lanes.entries()) {
        const read = await readLane(this.#sql, destination.id, lane).catch((error: unknown) => {
          destination.putBackResuming(lanes.slice(index));
          this.#holdings.resuming.add(destination);
          throw error;
        });
        destination.resume(lane, read, read.length === laneBatch);
      }
      if (destination.isResuming && this.#holdings.isOurs(destination)) this.#holdings.resuming.add(destination);
    }
    return resumed;
  }

  /** Which lanes of a new destination are blocked, before anything else of it is read. */
  async #loadHeads(): Promise<void> {
    const destinations = [...this.#holdings.dirty].filter(({ needsHeads }) => needsHeads).slice(0, readsAtOnce);
    if (destinations.length === 0) return;
    // Before the read: a destination that is forgotten meanwhile needs its heads again.
    for (const destination of destinations) destination.startHeads();
    const ids = destinations.map(({ id }) => id);
    const lanes = await readBlockedLanes(this.#sql, ids, mostBlockedLanes).catch((error: unknown) => {
      for (const destination of destinations) destination.failHeads();
      throw error;
    });
    for (const { id, destinationId, webhookId, engagementId } of lanes) {
      const destination = this.#holdings.find(destinationId);
      // A head that is held is being sent again, or was: its outcome decides whether its lane waits.
      if (destination?.holds(id) === false) destination.lanes.block(webhookId, engagementId);
    }
  }
}
