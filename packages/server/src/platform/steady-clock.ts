/** What one look at the database's clock showed. Epoch milliseconds. */
export interface ClockReading {
  readonly at: number;
  /** All steps of the clock that are recorded, added up. */
  readonly shiftMs: number;
}

/** When the look was taken, by this process's monotonic clock: after `from` and before `to`. */
export interface Look {
  readonly from: number;
  readonly to: number;
}

/**
 * The clock differs from what the process expects by more than this: it was stepped. NTP adjusts smaller differences slowly
 * (500 ppm), and two looks are half a second apart.
 */
export const stepToleranceMs = 5_000;

/**
 * Steady time: the database's clock without its recorded steps. It advances as this process's monotonic clock does, so a
 * difference between the two is a step that nobody has recorded yet.
 *
 * A look does not say at which instant of its duration the clock was read. So only the range of the offset is known, and the
 * offset is moved no further than into that range.
 */
export class SteadyClock {
  /** Steady time minus monotonic time; `null` before the first look. */
  #offset: number | null = null;

  /** By how much the clock was stepped and nobody has recorded; 0: not at all. Forward is positive. */
  stepOf(reading: ClockReading, look: Look): number {
    if (this.#offset === null) return 0;
    const { least, most } = offsetRange(reading, look);
    if (this.#offset < least - stepToleranceMs) return Math.round(least - this.#offset);
    if (this.#offset > most + stepToleranceMs) return Math.round(most - this.#offset);
    return 0;
  }

  /** Goes along with small differences: clocks drift apart. */
  follow(reading: ClockReading, look: Look): void {
    const { least, most } = offsetRange(reading, look);
    this.#offset = Math.min(Math.max(this.#offset ?? least, least), most);
  }

  /** Believes the reading, whatever was expected. */
  restart(reading: ClockReading, look: Look): void {
    this.#offset = null;
    this.follow(reading, look);
  }

  at(monotonic: number): number {
    if (this.#offset === null) throw new Error('the clock was not looked at yet');
    return monotonic + this.#offset;
  }
}

function offsetRange(
  { at, shiftMs }: ClockReading,
  { from, to }: Look,
): { readonly least: number; readonly most: number } {
  return { least: at - shiftMs - to, most: at - shiftMs - from };
}
