/** One reading of the database's clock, in epoch milliseconds. */
export interface ClockReading {
  readonly at: number;
  /** The sum of all recorded steps of the clock. */
  readonly shiftMs: number;
}

/** When the clock was read, by this process's monotonic clock: after `from` and before `to`. */
export interface ReadingTime {
  readonly from: number;
  readonly to: number;
}

/**
 * A larger difference from the expected time is a step of the clock. NTP adjusts smaller differences slowly (500 ppm), and
 * the clock is read every half second.
 */
export const stepToleranceMs = 5_000;

/**
 * Steady time: the database's clock without its recorded steps. It advances like this process's monotonic clock, so a
 * difference between the two is a step that has not been recorded yet.
 *
 * The instant at which the database read its clock is only known as a range. The offset therefore also has a range, and is
 * moved no further than into that range.
 */
export class SteadyClock {
  /** Steady time minus monotonic time; `null` before the first reading. */
  #offset: number | null = null;

  /** The unrecorded step of the clock, forward is positive; 0 if there is none. */
  stepOf(reading: ClockReading, time: ReadingTime): number {
    if (this.#offset === null) return 0;
    const { least, most } = offsetRange(reading, time);
    if (this.#offset < least - stepToleranceMs) return Math.round(least - this.#offset);
    if (this.#offset > most + stepToleranceMs) return Math.round(most - this.#offset);
    return 0;
  }

  /** Follows small differences, because clocks drift apart. */
  follow(reading: ClockReading, time: ReadingTime): void {
    const { least, most } = offsetRange(reading, time);
    this.#offset = Math.min(Math.max(this.#offset ?? least, least), most);
  }

  /** Accepts the reading, whatever was expected. */
  restart(reading: ClockReading, time: ReadingTime): void {
    this.#offset = null;
    this.follow(reading, time);
  }

  at(monotonic: number): number {
    if (this.#offset === null) throw new Error('the clock has not been read yet');
    return monotonic + this.#offset;
  }
}

function offsetRange(
  { at, shiftMs }: ClockReading,
  { from, to }: ReadingTime,
): { readonly least: number; readonly most: number } {
  return { least: at - shiftMs - to, most: at - shiftMs - from };
}
