import { beginEpoch } from '../../../events/log-point.ts';
import type { Sql } from '../../../platform/database/database.ts';
import { maxBlockedLanes, type Destination } from '../destination.ts';
import type { LeasedDestinations } from '../leases/leased-destinations.ts';
import { laneBatch, readBlockedLanes, readDeliveries, readLane, type DeliveryQuery } from '../store.ts';
import { Watermark } from './watermark.ts';

/** Destinations per read. */
const readBatch = 200;

interface ReaderDependencies {
  readonly sql: Sql;
  readonly leased: LeasedDestinations;
  readonly onBatch: (size: number) => void;
  /** Called when the log has a new epoch: deliveries in memory may belong to a lost history. */
  readonly onNewEpoch: () => void;
}

/** Reads due deliveries into the leased destinations. Called by one loop, never concurrently. */
export class Reader {
  readonly #sql: Sql;
  readonly #leased: LeasedDestinations;
  readonly #onBatch: (size: number) => void;
  readonly #onNewEpoch: () => void;
  #watermark = new Watermark();
  /** The tag of the log's epoch at the last read; `null`: none was in force; `undefined`: nothing was read yet. */
  #tag: string | null | undefined;

  constructor({ sql, leased, onBatch, onNewEpoch }: ReaderDependencies) {
    this.#sql = sql;
    this.#leased = leased;
    this.#onBatch = onBatch;
    this.#onNewEpoch = onNewEpoch;
  }

  /** Returns the destinations for which was read. */
  async read(now: number): Promise<readonly Destination[]> {
    await this.#loadHeads();
    const reads: { readonly destination: Destination; readonly query: DeliveryQuery }[] = [];
    for (const destination of this.#leased.dirty) {
      if (reads.length >= readBatch) break;
      const query = destination.takeQuery(now);
      if (query === null) continue;
      this.#leased.dirty.delete(destination);
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
   * After a crash, a failover or a restore, the log may assign `seq` numbers again, and deliveries in memory may no longer exist.
   * So everything is read from the beginning, and the read that found the new epoch is ignored (see `Destination.receive`).
   */
  async #noteEpoch(tag: string | null): Promise<void> {
    if (tag === null) await beginEpoch(this.#sql);
    else if (tag === this.#tag) return;
    const isFirst = this.#tag === undefined;
    this.#tag = tag;
    if (isFirst) return;
    this.#watermark = new Watermark();
    for (const destination of this.#leased.all) destination.rescan();
    this.#onNewEpoch();
  }

  /** Reads the next deliveries of unread lanes that may continue. Returns their destinations. */
  async resumeLanes(): Promise<readonly Destination[]> {
    const resumed = [...this.#leased.resuming];
    for (const destination of resumed) {
      this.#leased.resuming.delete(destination);
      const lanes = destination.takeResuming();
      for (const [index, lane] of lanes.entries()) {
        const read = await readLane(this.#sql, destination.id, lane).catch((error: unknown) => {
          destination.putBackResuming(lanes.slice(index));
          this.#leased.resuming.add(destination);
          throw error;
        });
        destination.resume(lane, read, read.length === laneBatch);
      }
      if (destination.isResuming && this.#leased.isOurs(destination)) this.#leased.resuming.add(destination);
    }
    return resumed;
  }

  /** Reads which lanes of new destinations are blocked, before anything else is read for them. */
  async #loadHeads(): Promise<void> {
    const destinations = [...this.#leased.dirty].filter(({ needsHeads }) => needsHeads).slice(0, readBatch);
    if (destinations.length === 0) return;
    // Before the read, because a destination that is reloaded meanwhile needs its heads again.
    for (const destination of destinations) destination.startHeads();
    const ids = destinations.map(({ id }) => id);
    const lanes = await readBlockedLanes(this.#sql, ids, maxBlockedLanes).catch((error: unknown) => {
      for (const destination of destinations) destination.failHeads();
      throw error;
    });
    for (const { id, destinationId, webhookId, engagementId } of lanes) {
      const destination = this.#leased.find(destinationId);
      // A head in memory is being sent, or has an unwritten outcome, which decides whether its lane waits.
      if (destination?.has(id) === false) destination.lanes.block(webhookId, engagementId);
    }
  }
}
