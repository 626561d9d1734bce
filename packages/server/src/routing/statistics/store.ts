import type { Piece, Sql } from '../../platform/database.ts';
import type { QueueId, SiteId } from '../../platform/ids.ts';
import { conditionOf, presence, queueVisits, subEngagements, type Facts } from './facts.ts';
import { dimensionsOf, type Dimension } from './filter.ts';
import type { StatisticsQuery } from './query.ts';

/** A query with more rows is refused, not truncated. */
export const maxRows = 100_000;

type Group = { readonly timestamp: Date; readonly seconds: number } & Partial<Record<Dimension, string | null>>;

export interface DurationRow extends Group {
  readonly count: number;
  readonly average_duration_in_seconds: number;
  readonly total_duration_in_seconds: number;
}

export interface WaitRow extends DurationRow {
  readonly maximum_duration_in_seconds: number;
  readonly short_duration_count: number;
  readonly within_service_level_count: number;
}

/**
 * Durations are whole seconds: each instant is truncated to its second before the subtraction, so that the parts of an interval
 * always add up to the whole. A statistic does this twice for each of 100,000 facts: `date_bin` takes a third of the time of
 * `date_part`, and a seventh of that of `date_trunc`. It is exact after its origin only, so that is before every instant.
 */
const secondOf = (sql: Sql, at: Piece): Piece => sql`date_bin('1 second', ${at}, timestamptz '0001-01-01 00:00:00+00')`;

/** The seconds of an interval. Durations remain intervals until they are added up, because this function is slow. */
const secondsOf = (sql: Sql, interval: Piece): Piece => sql`date_part('epoch', ${interval})`;

const totalSeconds = (sql: Sql): Piece => secondsOf(sql, sql`sum(duration)`);

const figures = (sql: Sql): Piece => sql`
  count(*)::integer AS count, round((${totalSeconds(sql)} / count(*))::numeric, 3)::float8 AS average_duration_in_seconds,
  ${totalSeconds(sql)} AS total_duration_in_seconds`;

export async function engagementDurations(sql: Sql, query: StatisticsQuery): Promise<DurationRow[]> {
  return sql<
    DurationRow[]
  >`${byStart(sql, query, subEngagements(sql, query, usesOf(query)), { counts: figures(sql) })}`;
}

export async function queueWaits(sql: Sql, query: StatisticsQuery): Promise<WaitRow[]> {
  const facts = queueVisits(sql, query, usesOf(query));
  const counts = sql`${figures(sql)}, ${secondsOf(sql, sql`max(duration)`)} AS maximum_duration_in_seconds,
    (count(*) FILTER (WHERE exact_duration < make_interval(secs => ${query.shortSec})))::integer AS short_duration_count,
    (count(*) FILTER (WHERE is_served AND exact_duration <= make_interval(secs => ${query.serviceLevelSec})))::integer
      AS within_service_level_count`;
  const extra = sql`, fact.left_at - fact.entered_at AS exact_duration, fact.outcome = 'engaged' AS is_served`;
  return sql<WaitRow[]>`${byStart(sql, query, facts, { counts, extra })}`;
}

/** Groups facts by the step in which they started. */
function byStart(
  sql: Sql,
  query: StatisticsQuery,
  facts: Facts,
  { counts, extra = sql`` }: { readonly counts: Piece; readonly extra?: Piece },
): Piece {
  return sql`
    WITH facts AS (
           SELECT ${facts.isRepeated ? sql`DISTINCT` : sql``} ${facts.id} AS fact_id, ${stepOf(sql, query, facts.startedAt)} AS step,
                  ${secondOf(sql, facts.endedAt)} - ${secondOf(sql, facts.startedAt)} AS duration${extra}${dimensionColumns(sql, query, facts)}
             FROM ${facts.source}
            WHERE ${conditionOf(sql, query.filter, facts.columns)})
    SELECT ${stepStart(sql, query)} AS timestamp, ${totalSeconds(sql)} AS seconds${dimensionNames(sql, query)}, ${counts}
      FROM facts
     GROUP BY step${dimensionNames(sql, query)}
     ORDER BY step${dimensionNames(sql, query)}
     LIMIT ${maxRows + 1}`;
}

/** The time of operators, divided among the steps to the second. */
export async function onlineDurations(sql: Sql, query: StatisticsQuery): Promise<Group[]> {
  const facts = presence(sql, query, usesOf(query));
  return sql<Group[]>`
    WITH ${query.steps.length === 1 ? wholeParts(sql, query, facts) : dividedParts(sql, query, facts)}
    SELECT ${stepStart(sql, query)} AS timestamp, ${totalSeconds(sql)} AS seconds${dimensionNames(sql, query)}
      FROM parts
     GROUP BY step${dimensionNames(sql, query)}
    HAVING sum(duration) > '0'
     ORDER BY step${dimensionNames(sql, query)}
     LIMIT ${maxRows + 1}`;
}

/** Facts are within the range already, and with one step nothing is left to divide. */
function wholeParts(sql: Sql, query: StatisticsQuery, facts: Facts): Piece {
  return sql`
         parts AS (
           SELECT ${facts.isRepeated ? sql`DISTINCT` : sql``} ${facts.id} AS fact_id, 1 AS step,
                  ${secondOf(sql, facts.endedAt)} - ${secondOf(sql, facts.startedAt)} AS duration${dimensionColumns(sql, query, facts)}
             FROM ${facts.source}
            WHERE ${facts.endedAt} > ${facts.startedAt} AND ${conditionOf(sql, query.filter, facts.columns)})`;
}

/**
 * Most facts are within one step. Only the others are divided, because a `generate_series` for each fact is slow. `OFFSET 0` keeps
 * the planner from copying the expressions of `facts` to each place that uses them.
 */
function dividedParts(sql: Sql, query: StatisticsQuery, facts: Facts): Piece {
  const starts = steps(sql, query);
  return sql`
         facts AS (
           SELECT ${facts.isRepeated ? sql`DISTINCT` : sql``} ${facts.id} AS fact_id, ${secondOf(sql, facts.startedAt)} AS started_at,
                  ${secondOf(sql, facts.endedAt)} AS ended_at${dimensionColumns(sql, query, facts)}
             FROM ${facts.source}
            WHERE ${conditionOf(sql, query.filter, facts.columns)}
           OFFSET 0),
         placed AS MATERIALIZED (
           SELECT started_at, ended_at, greatest(1, width_bucket(started_at, ${starts})) AS first_step,
                  width_bucket(ended_at - interval '1 microsecond', ${starts}) AS last_step${dimensionNames(sql, query)}
             FROM facts
            WHERE ended_at > started_at),
         parts AS (
           SELECT first_step AS step, ended_at - started_at AS duration${dimensionNames(sql, query)}
             FROM placed
            WHERE first_step = last_step
           UNION ALL
           SELECT step, least(ended_at, (${starts})[step + 1]) - greatest(started_at, (${starts})[step])${dimensionNames(sql, query)}
             FROM placed, generate_series(first_step, last_step) AS step
            WHERE first_step < last_step)`;
}

function usesOf({ dimensions, filter }: StatisticsQuery): (...any: readonly Dimension[]) => boolean {
  const used = new Set([...dimensions, ...(filter === null ? [] : dimensionsOf(filter))]);
  return (...any) => any.some((dimension) => used.has(dimension));
}

/** Sent as text, because the driver would send an array of dates as one date. */
const steps = (sql: Sql, { steps: starts }: StatisticsQuery): Piece =>
  sql`${starts.map((at) => at.toISOString())}::timestamptz[]`;

/** The number of the step, starting with 1. */
function stepOf(sql: Sql, query: StatisticsQuery, at: Piece): Piece {
  return query.steps.length === 1 ? sql`1` : sql`width_bucket(${at}, ${steps(sql, query)})`;
}

function stepStart(sql: Sql, query: StatisticsQuery): Piece {
  return sql`(${steps(sql, query)})[step]`;
}

function dimensionColumns(sql: Sql, { dimensions }: StatisticsQuery, { columns }: Facts): Piece {
  return dimensions.reduce((all, name) => sql`${all}, ${columns[name]} AS ${sql(name)}`, sql``);
}

function dimensionNames(sql: Sql, { dimensions }: StatisticsQuery): Piece {
  return dimensions.reduce((all, name) => sql`${all}, ${sql(name)}`, sql``);
}

export async function timeZoneOfSite(sql: Sql, id: SiteId): Promise<string> {
  const [row] = await sql<{ time_zone: string | null }[]>`SELECT time_zone FROM sites WHERE id = ${id}`;
  return row?.time_zone ?? 'UTC';
}

/** The average recent wait in seconds; 0 if there is none. `queueIds` is `null` for all queues of the sites. */
export async function averageWaitOf(
  sql: Sql,
  siteIds: readonly SiteId[],
  queueIds: readonly QueueId[] | null,
): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    SELECT coalesce(avg(wait), 0)::float8 / 1000 AS seconds
      FROM queues q
      JOIN queue_states s ON s.queue_id = q.id
     CROSS JOIN unnest(s.waits) AS wait
     WHERE q.site_id = ANY(${[...siteIds]}::uuid[])
       AND (${queueIds === null} OR q.id = ANY(${[...(queueIds ?? [])]}::uuid[]))`;
  return row?.seconds ?? 0;
}
