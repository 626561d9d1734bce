/** What a read says of the moment it was made. */
export interface Moment {
  /** Every transaction before this one has ended: what it has written can be seen, or never will be. */
  readonly xmin: number;
  /** Transactions from this one on had not begun. */
  readonly xmax: number;
  /** The last number the log had given away, or a later one. */
  readonly lastSeq: number;
}

/**
 * Up to which number everything in the log can be seen. Numbers are given when rows are written and seen when they are
 * committed, so the highest one seen says nothing of those below it. But whatever begins after a moment is given higher
 * numbers than had been given until then; once everything that had begun by that moment has ended, nothing below is to come.
 */
export class Watermark {
  #lastSeq = 0;
  #waiting: { readonly xmax: number; readonly seq: number }[] = [];
  #safe = 0;

  get safe(): number {
    return this.#safe;
  }

  note({ xmin, xmax, lastSeq }: Moment): void {
    // Of the moment before: the snapshot of this one was taken after that number was read.
    if (this.#lastSeq > (this.#waiting.at(-1)?.seq ?? this.#safe)) this.#waiting.push({ xmax, seq: this.#lastSeq });
    this.#lastSeq = lastSeq;
    while (this.#waiting[0] !== undefined && this.#waiting[0].xmax <= xmin) {
      this.#safe = this.#waiting[0].seq;
      this.#waiting.shift();
    }
    // A transaction that goes on for long holds it all up; what is known then stays true, and so does the latest.
    if (this.#waiting.length > mostWaiting) this.#waiting.splice(1, this.#waiting.length - 2);
  }
}

const mostWaiting = 100;
