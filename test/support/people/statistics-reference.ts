import type { Fact, Values } from './statistics-history.ts';
import type { Json } from '../server.ts';

export interface ReferenceQuery {
  readonly dimensions: readonly string[];
  readonly granularity: string;
  readonly from: number;
  readonly to: number;
  readonly filter: Json;
  readonly timeZone: string;
  /** The sites that the caller may see. */
  readonly siteIds: readonly string[];
}

/** Whether the values match the filter, by the definition of filters. */
function fits(filter: Json, values: Values): boolean {
  if (filter === undefined) return true;
  if (filter.type === 'and') return filter.fields.every((field: Json) => fits(field, values));
  if (filter.type === 'or') return filter.fields.some((field: Json) => fits(field, values));
  if (filter.type === 'not') return !fits(filter.field, values);
  const allowed: readonly string[] = filter.type === 'selector' ? [filter.value] : filter.values;
  return allowed.includes(values[filter.dimension] ?? '');
}

/** The groups that a fact belongs to, each once. */
function groupsOf(fact: Fact, { dimensions, filter, siteIds }: ReferenceQuery): Values[] {
  const found = fact.values.filter((values) => siteIds.includes(values['site_id'] ?? '') && fits(filter, values));
  const groups = found.map((values) => Object.fromEntries(dimensions.map((name) => [name, values[name] ?? null])));
  return [...new Map(groups.map((group) => [JSON.stringify(group), group])).values()];
}

const minutesOf: Readonly<Record<string, number>> = { fifteen_minute: 15, thirty_minute: 30, hour: 60 };

/** Where the step of an instant begins, as a clock on the wall shows it. */
function stepOf(at: number, { granularity, timeZone, from }: ReferenceQuery): number {
  if (granularity === 'all') return from;
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  if (granularity === 'day') return local.startOfDay().epochMilliseconds;
  const minutes = minutesOf[granularity] ?? Number.NaN;
  return local.subtract({
    minutes: local.minute % minutes,
    seconds: local.second,
    milliseconds: local.millisecond,
  }).epochMilliseconds;
}

const second = (at: number): number => Math.floor(at / 1_000);

class Groups<Row extends { seconds: number }> {
  readonly #rows = new Map<string, Row>();
  add(step: number, group: Values, make: () => Row, change: (row: Row) => void): void {
    const key = JSON.stringify([step, group]);
    const row = this.#rows.get(key) ?? { timestamp: new Date(step).toISOString(), ...group, ...make() };
    change(row);
    this.#rows.set(key, row);
  }
  get rows(): Row[] {
    return [...this.#rows.values()];
  }
}

/** Facts that began in the range, each in the step in which it began. */
export function durations(facts: readonly Fact[], query: ReferenceQuery, isVisits: boolean): Json[] {
  const groups = new Groups<Json>();
  for (const fact of facts) {
    if (fact.startMs < query.from || fact.startMs >= query.to) continue;
    const lasted = second(fact.endMs) - second(fact.startMs);
    const exactSec = (fact.endMs - fact.startMs) / 1_000;
    for (const group of groupsOf(fact, query))
      groups.add(
        stepOf(fact.startMs, query),
        group,
        () => ({ seconds: 0, count: 0, ...(isVisits ? { maximum_duration_in_seconds: 0, short_duration_count: 0, within_service_level_count: 0 } : {}) }), // prettier-ignore
        (row) => {
          row.seconds += lasted;
          row.count += 1;
          if (!isVisits) return;
          row.maximum_duration_in_seconds = Math.max(row.maximum_duration_in_seconds, lasted);
          row.short_duration_count += exactSec < 5 ? 1 : 0;
          row.within_service_level_count += fact.isServed === true && exactSec <= 20 ? 1 : 0;
        },
      );
  }
  for (const row of groups.rows) {
    row.total_duration_in_seconds = row.seconds;
    row.average_duration_in_seconds = Math.round((row.seconds / row.count) * 1_000) / 1_000;
  }
  return groups.rows;
}

const quarterSec = 900;

/** Time in the range, cut at every quarter of an hour: no piece lies in two steps. */
export function onlineTime(facts: readonly Fact[], query: ReferenceQuery): Json[] {
  const groups = new Groups<Json>();
  for (const fact of facts) {
    const ends = second(Math.min(fact.endMs, query.to));
    let at = second(Math.max(fact.startMs, query.from));
    while (at < ends) {
      const next = Math.min(ends, (Math.floor(at / quarterSec) + 1) * quarterSec);
      const [length, instant] = [next - at, at * 1_000];
      for (const group of groupsOf(fact, query))
        groups.add(stepOf(instant, query), group, () => ({ seconds: 0 }), (row) => (row.seconds += length)); // prettier-ignore
      at = next;
    }
  }
  return groups.rows;
}
