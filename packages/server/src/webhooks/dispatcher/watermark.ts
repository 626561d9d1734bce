/** What a read of the log says of the moment it was made. */
export interface Moment {
  /** Every transaction with a smaller id has ended: what it wrote can be seen, or never will be. */
  readonly xmin: number;
  /** The id that the next transaction will get: every transaction that has an id has a smaller one. */
  readonly nextXid: number;
  /** The last number the log had given out, or a later one. */
  readonly lastSeq: number;
}

/**
 * Knows up to which number everything in the log can be seen.
 *
 * A number is given to an event when it is written, and the event is seen when its transaction commits: the highest number
 * seen says nothing of those below it. But a transaction gets its id before it gives out a number (0018_log_epochs.sql).
 * So, of two moments one after the other: whatever has a number up to the `lastSeq` of the first belongs to a transaction
 * with an id below the `nextXid` of the second. Once `xmin` has reached that id, nothing up to that number is to come.
 *
 * `nextXid` is not the `xmax` of a snapshot. That is one past the highest transaction that has *ended*, and transactions
 * that wait in COMMIT lie above it.
 *
 * It holds for one epoch of the log: in the next one, ids and numbers that were not flushed are given out again.
 */
export class Watermark {
  #lastSeq = 0;
  #waiting: { readonly nextXid: number; readonly seq: number }[] = [];
  #safe = 0;

  get safe(): number {
    return this.#safe;
  }

  note({ xmin, nextXid, lastSeq }: Moment): void {
    // The number of the moment before: the next id of this moment was read after it.
    if (this.#lastSeq > (this.#waiting.at(-1)?.seq ?? this.#safe)) this.#waiting.push({ nextXid, seq: this.#lastSeq });
    this.#lastSeq = lastSeq;
    while (this.#waiting[0] !== undefined && this.#waiting[0].nextXid <= xmin) {
      this.#safe = this.#waiting[0].seq;
      this.#waiting.shift();
    }
    // A long transaction holds all of them up. Any of them may be dropped: the first and the last say the most.
    if (this.#waiting.length > mostWaiting) this.#waiting.splice(1, this.#waiting.length - 2);
  }
}

const mostWaiting = 100;
