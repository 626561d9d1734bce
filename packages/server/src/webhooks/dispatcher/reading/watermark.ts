/** The state of the log at the moment of a read. */
export interface Moment {
  /** Every transaction with a smaller id has ended: its rows are visible, or never will be. */
  readonly xmin: number;
  /** The id of the next transaction: all transactions with an id have a smaller one. */
  readonly nextXid: number;
  /** The last `seq` that the log has assigned, or a later one. */
  readonly lastSeq: number;
}

/**
 * Calculates up to which `seq` the log is complete: no event up to it can still become visible.
 *
 * An event is assigned its `seq` when it is written, and becomes visible when its transaction commits; so the highest visible
 * `seq` says nothing about smaller ones. But a transaction has an id before it is assigned a `seq` (0018_log_epochs.sql). So,
 * for two moments in succession: every `seq` up to `lastSeq` of the first belongs to a transaction with an id below `nextXid` of
 * the second. Once `xmin` has reached that id, the log is complete up to that `seq`.
 *
 * `nextXid` is not `xmax` of a snapshot: that is one more than the highest transaction that has *ended*, and transactions that
 * wait in COMMIT are above it.
 *
 * A watermark is valid for one epoch of the log: in the next epoch, ids and `seq` numbers that were not flushed are assigned again.
 */
export class Watermark {
  #lastSeq = 0;
  #waiting: { readonly nextXid: number; readonly seq: number }[] = [];
  #safe = 0;

  get safe(): number {
    return this.#safe;
  }

  note({ xmin, nextXid, lastSeq }: Moment): void {
    // `#lastSeq` is from the previous moment: `nextXid` of this moment was read after it.
    if (this.#lastSeq > (this.#waiting.at(-1)?.seq ?? this.#safe)) this.#waiting.push({ nextXid, seq: this.#lastSeq });
    this.#lastSeq = lastSeq;
    while (this.#waiting[0] !== undefined && this.#waiting[0].nextXid <= xmin) {
      this.#safe = this.#waiting[0].seq;
      this.#waiting.shift();
    }
    // During a long transaction they accumulate. Any may be dropped; the first and the last are the most useful.
    if (this.#waiting.length > maxWaiting) this.#waiting.splice(1, this.#waiting.length - 2);
  }
}

const maxWaiting = 100;
