import { countUpTo } from './count-up-to.ts';

/**
 * The zone with this name, links included, in any case on input: in the spelling of the zone database, but still the
 * name that was given (`us/eastern` is `US/Eastern`, not `America/New_York`). Null if no zone has it. An offset such as
 * `+02:00` is none: it would be a policy without daylight saving that looks like one with.
 *
 * It asks Temporal, which keeps the name. `Intl` would answer with the name the link leads to, and may know zones whose
 * rules Temporal has not.
 */
export function canonicalTimeZone(name: string): string | null {
  if (!/^[a-z]/i.test(name)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** From some instant to `endsAt` (epoch milliseconds, not included) the zone's clocks keep this offset. */
export interface Stretch {
  readonly offsetMs: number;
  readonly endsAt: number;
}

/** Between these instants all of a zone's stretches are kept; outside, where hardly anyone asks, just the last one. */
const keptFrom = Date.UTC(1970, 0, 1);
const keptTo = Date.UTC(2100, 0, 1);

/**
 * A zone's offset at any instant (epoch milliseconds). Temporal takes some microseconds for the offset and as many for
 * the next transition; here it is asked once for each transition, and a binary search does the rest.
 */
export class ZoneClock {
  readonly #timeZone: string;
  readonly #starts: number[] = [];
  readonly #stretches: Stretch[] = [];
  /** What was last looked up, and the instant it is known from: a walk far from our time asks once a stretch, too. */
  #last: { from: number; stretch: Stretch };

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
    this.#last = { from: keptTo, stretch: this.#lookUp(keptTo) };
    for (let at = keptFrom; at < keptTo;) {
      const stretch = this.#lookUp(at);
      this.#starts.push(at);
      this.#stretches.push(stretch);
      at = stretch.endsAt;
    }
  }

  stretchAt(instant: number): Stretch {
    const kept = keptFrom <= instant && instant < keptTo;
    return (kept ? this.#stretches[countUpTo(this.#starts, instant) - 1] : undefined) ?? this.#farStretchAt(instant);
  }

  #farStretchAt(instant: number): Stretch {
    const { from, stretch } = this.#last;
    if (from <= instant && instant < stretch.endsAt) return stretch;
    this.#last = { from: instant, stretch: this.#lookUp(instant) };
    return this.#last.stretch;
  }

  #lookUp(instant: number): Stretch {
    const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(instant)).toZonedDateTimeISO(this.#timeZone);
    return {
      offsetMs: local.offsetNanoseconds / 1_000_000,
      endsAt: local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity,
    };
  }
}

/** Only names of zones get in here, so there are no more than some 600. */
const clocks = new Map<string, ZoneClock>();

/** The zone's clock, shared by all policies in the zone. */
export function zoneClock(name: string): ZoneClock {
  const timeZone = canonicalTimeZone(name);
  if (timeZone === null) throw new Error(`there is no time zone ${name}`);
  const clock = clocks.get(timeZone) ?? new ZoneClock(timeZone);
  clocks.set(timeZone, clock);
  return clock;
}
