import { countUpTo } from './count-up-to.ts';

/**
 * D6.5: the name of a time zone, in any case and including links, in the spelling of the zone database. Links are kept: `us/eastern`
 * becomes `US/Eastern`, not `America/New_York`. Returns null if there is no such zone. An offset such as `+02:00` is not accepted,
 * because it has no daylight saving time.
 *
 * Uses Temporal, which keeps the name. `Intl` would return the target of a link, and may know zones that Temporal does not.
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

/** A period of constant offset of a zone, until `endsAt` (epoch milliseconds, excluded). */
export interface Stretch {
  readonly offsetMs: number;
  readonly endsAt: number;
}

/** Between these instants all stretches of a zone are cached; outside, only the one that was last looked up. */
const cachedFrom = Date.UTC(1970, 0, 1);
const cachedTo = Date.UTC(2100, 0, 1);

/**
 * The offset of a zone at any instant (epoch milliseconds). Temporal takes some microseconds for an offset and as many for the next
 * transition; here it is called once per transition, and a binary search does the rest.
 */
export class ZoneClock {
  readonly #timeZone: string;
  readonly #starts: number[] = [];
  readonly #stretches: Stretch[] = [];
  /** The last lookup outside the cached time, valid from `from`, so that a walk there also calls Temporal once per stretch. */
  #last: { from: number; stretch: Stretch };

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
    this.#last = { from: cachedTo, stretch: this.#lookUp(cachedTo) };
    for (let at = cachedFrom; at < cachedTo;) {
      const stretch = this.#lookUp(at);
      this.#starts.push(at);
      this.#stretches.push(stretch);
      at = stretch.endsAt;
    }
  }

  stretchAt(instant: number): Stretch {
    const isCached = cachedFrom <= instant && instant < cachedTo;
    return (
      (isCached ? this.#stretches[countUpTo(this.#starts, instant) - 1] : undefined) ?? this.#farStretchAt(instant)
    );
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

/** Contains only names of zones, so at most about 600 entries. */
const clocks = new Map<string, ZoneClock>();

/** The zone's clock, shared by all policies in the zone. */
export function zoneClock(name: string): ZoneClock {
  const timeZone = canonicalTimeZone(name);
  if (timeZone === null) throw new Error(`there is no time zone ${name}`);
  const clock = clocks.get(timeZone) ?? new ZoneClock(timeZone);
  clocks.set(timeZone, clock);
  return clock;
}
