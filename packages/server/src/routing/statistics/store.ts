import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { QueueId, SiteId } from '../../platform/ids.ts';
import { conditionOf, presence, queueVisits, subEngagements, type Facts, type Memberships } from './facts.ts';
import { dimensionsOf, type Dimension } from './filter.ts';
import type { StatisticsQuery } from './query.ts';
import { runsOf } from './steps.ts';

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
const secondOf = (sql: Sql, at: SqlFragment): SqlFragment =>
  sql`date_bin('1 second', ${at}, timestamptz '0001-01-01 00:00:00+00')`;

/** The seconds of an interval. Durations remain intervals until they are added up, because this function is slow. */
const secondsOf = (sql: Sql, interval: SqlFragment): SqlFragment => sql`date_part('epoch', ${interval})`;

const totalSeconds = (sql: Sql): SqlFragment => secondsOf(sql, sql`duration`);

const figures = (sql: Sql): SqlFragment => sql`
  count::integer AS count, round((${totalSeconds(sql)} / count)::numeric, 3)::float8 AS average_duration_in_seconds,
  ${totalSeconds(sql)} AS total_duration_in_seconds`;

export async function engagementDurations(sql: Sql, query: StatisticsQuery): Promise<DurationRow[]> {
  const facts = subEngagements(sql, query, usesOf(query));
  return sql<DurationRow[]>`
    WITH ${sumsByStart(sql, query, facts)}
    ${groupsOf(sql, query, facts, { sums: ['count', 'duration'], figures: figures(sql) })}`;
}

export async function queueWaits(sql: Sql, query: StatisticsQuery): Promise<WaitRow[]> {
  const facts = queueVisits(sql, query, usesOf(query));
  const sums = sql`, max(duration) AS maximum,
    count(*) FILTER (WHERE exact_duration < make_interval(secs => ${query.shortSec})) AS short,
    count(*) FILTER (WHERE is_served AND exact_duration <= make_interval(secs => ${query.serviceLevelSec})) AS within`;
  const extra = sql`, fact.left_at - fact.entered_at AS exact_duration, fact.outcome = 'engaged' AS is_served`;
  const waitFigures = sql`${figures(sql)}, ${secondsOf(sql, sql`maximum`)} AS maximum_duration_in_seconds,
    short::integer AS short_duration_count, within::integer AS within_service_level_count`;
  return sql<WaitRow[]>`
    WITH ${sumsByStart(sql, query, facts, { extra, sums })}
    ${groupsOf(sql, query, facts, { sums: ['count', 'duration'], figures: waitFigures })}`;
}

/** The time of operators, divided among the steps to the second. */
export async function onlineDurations(sql: Sql, query: StatisticsQuery): Promise<Group[]> {
  const [facts, others] = presence(sql, query, usesOf(query));
  const sumsOf = query.steps.length === 1 ? wholeSums : dividedSums;
  return sql<Group[]>`
    WITH ${sumsOf(sql, query, [facts, others])}
    ${groupsOf(sql, query, facts, { sums: ['duration'], where: sql`WHERE duration > '0'` })}`;
}

/**
 * Ends a subquery that the planner must not merge with the outer one. Merged, it would copy expressions to each place that uses them,
 * and expect a group for each fact when it groups by a computed step: then no parallel worker adds up facts. The constant needs the
 * type of an offset: a constant that is to be converted counts as a limit, below which there are no parallel workers.
 */
const plannedApart = (sql: Sql): SqlFragment => sql`OFFSET bigint '0'`;

interface FactColumns {
  /** Columns of each fact, and sums of them, besides its duration. */
  readonly extra?: SqlFragment;
  readonly sums?: SqlFragment;
}

/** Adds up facts by the step in which they started. */
function sumsByStart(
  sql: Sql,
  query: StatisticsQuery,
  facts: Facts,
  { extra = sql``, sums = sql`` }: FactColumns = {},
): SqlFragment {
  const names = summedBy(sql, query, facts);
  const isWhole = query.steps.length === 1;
  return sql`
         facts AS (
           SELECT ${isWhole ? sql`1` : startOfStep(sql, query, facts.startedAt)} AS step_start,
                  ${secondOf(sql, facts.endedAt)} - ${secondOf(sql, facts.startedAt)} AS duration${extra}${summedColumns(sql, query, facts)}
             FROM ${facts.source}
            WHERE ${conditionOnFacts(sql, query, facts)}
            ${isWhole ? sql`` : plannedApart(sql)}),
         sums AS (
           SELECT ${isWhole ? sql`1` : sql`width_bucket(step_start, ${steps(sql, query)})`} AS step,
                  count(*) AS count, sum(duration) AS duration${sums}${names}
             FROM facts
            GROUP BY step_start${names})`;
}

/** The facts of both sources together. They are within the range already, and with one step nothing is left to divide. */
function wholeSums(sql: Sql, query: StatisticsQuery, [facts, others]: readonly [Facts, Facts]): SqlFragment {
  const names = summedBy(sql, query, facts);
  const sumsOf = (each: Facts): SqlFragment => sql`
           SELECT 1 AS step, sum(duration) AS duration${names}
             FROM (SELECT ${secondOf(sql, each.endedAt)} - ${secondOf(sql, each.startedAt)} AS duration${summedColumns(sql, query, each)}
                     FROM ${each.source}
                    WHERE ${conditionOnFacts(sql, query, each)}) AS facts
            GROUP BY 1${names}`;
  return sql`
         sums AS (
           SELECT step, sum(duration) AS duration${names}
             FROM (${sumsOf(facts)} UNION ALL ${sumsOf(others)}) AS parts
            GROUP BY step${names})`;
}

/**
 * Facts are added up by their first and last step, and only these sums are divided among the steps: of the facts in several steps,
 * `tail` is the part in the last one.
 */
function dividedSums(sql: Sql, query: StatisticsQuery, [facts, others]: readonly [Facts, Facts]): SqlFragment {
  const starts = steps(sql, query);
  const names = summedBy(sql, query, facts);
  return sql`
         spans AS (${spansOf(sql, query, facts)} UNION ALL ${spansOf(sql, query, others)}),
         sums AS (
           SELECT step,
                  sum(CASE WHEN first_step = last_step THEN duration
                           WHEN step = last_step THEN tail
                           WHEN step > first_step THEN count * ((${starts})[step + 1] - (${starts})[step])
                           ELSE duration - tail - count * ((${starts})[last_step] - (${starts})[first_step + 1]) END) AS duration${names}
             FROM spans, generate_series(first_step, last_step) AS step
            GROUP BY step${names})`;
}

/**
 * Facts without a duration add nothing: those that start and end within a second have one step, and those that end when they start
 * have none if that is the start of a step.
 */
function spansOf(sql: Sql, query: StatisticsQuery, facts: Facts): SqlFragment {
  const starts = steps(sql, query);
  const names = summedBy(sql, query, facts);
  return sql`
           SELECT width_bucket(first_start, ${starts}) AS first_step, width_bucket(last_start, ${starts}) AS last_step,
                  count(*) AS count, sum(ended_at - started_at) AS duration,
                  sum(ended_at - last_start) FILTER (WHERE first_start < last_start) AS tail${names}
             FROM (SELECT ${secondOf(sql, facts.startedAt)} AS started_at, ${secondOf(sql, facts.endedAt)} AS ended_at,
                          ${startOfStep(sql, query, facts.startedAt)} AS first_start,
                          ${startOfStep(sql, query, sql`(${facts.endedAt} - interval '1 microsecond')`)} AS last_start${summedColumns(sql, query, facts)}
                     FROM ${facts.source}
                    WHERE ${conditionOnFacts(sql, query, facts)}
                    ${plannedApart(sql)}) AS facts
            GROUP BY first_start, last_start${names}`;
}

interface GroupFigures {
  /** The columns of `sums` to add up if facts belong to several groups. */
  readonly sums: readonly string[];
  readonly figures?: SqlFragment;
  readonly where?: SqlFragment;
}

/** The rows of a statistic, made of `sums`. */
function groupsOf(
  sql: Sql,
  query: StatisticsQuery,
  { memberships, columns }: Facts,
  { sums, figures: shown, where = sql`` }: GroupFigures,
): SqlFragment {
  const names = dimensionNames(sql, query);
  return sql`
    SELECT ${stepStart(sql, query)} AS timestamp, ${totalSeconds(sql)} AS seconds${names}${shown === undefined ? sql`` : sql`, ${shown}`}
      FROM ${memberships === null ? sql`sums` : sumsOfMembers(sql, query, { memberships, columns, sums })}
     ${where}
     ORDER BY step${names}
     LIMIT ${maxRows + 1}`;
}

interface MemberSums extends Pick<Facts, 'columns'>, Pick<GroupFigures, 'sums'> {
  readonly memberships: Memberships;
}

/** Counts each of `sums` once in every group to which one of its members belongs. */
function sumsOfMembers(sql: Sql, query: StatisticsQuery, { memberships, columns, sums }: MemberSums): SqlFragment {
  const names = dimensionNames(sql, query);
  const ofSums = (name: Dimension): SqlFragment => memberships.columns[name] ?? sql`sums.${sql(name)}`;
  const all = Object.fromEntries(
    Object.keys(columns).map((name) => [name, ofSums(name as Dimension)]),
  ) as Facts['columns'];
  const list = (each: (name: string) => SqlFragment): SqlFragment =>
    sums.reduce((before, name) => sql`${before}, ${each(name)}`, sql``);
  return sql`
           (SELECT step${list((name) => sql`sum(${sql(name)}) AS ${sql(name)}`)}${names}
              FROM (SELECT DISTINCT number, step${list((name) => sql`${sql(name)}`)}${columnsOf(sql, query.dimensions, all)}
                      FROM (SELECT row_number() OVER () AS number, * FROM sums) AS sums
                      ${memberships.join}
                     WHERE ${conditionOf(sql, query.filter, all)}) AS members
             GROUP BY step${names}) AS groups`;
}

function usesOf({ dimensions, filter }: StatisticsQuery): (...any: readonly Dimension[]) => boolean {
  const used = new Set([...dimensions, ...(filter === null ? [] : dimensionsOf(filter))]);
  return (...any) => any.some((dimension) => used.has(dimension));
}

/** Sent as text, because the driver would send an array of dates as one date. */
const steps = (sql: Sql, { steps: starts }: StatisticsQuery): SqlFragment =>
  sql`${starts.map((at) => at.toISOString())}::timestamptz[]`;

/**
 * The start of the step of an instant in the range. Steps have few lengths, and `date_bin` takes a tenth of the time of
 * `width_bucket`, so only sums have the number of their step.
 */
function startOfStep(sql: Sql, query: StatisticsQuery, at: SqlFragment): SqlFragment {
  const [first, ...later] = runsOf(query.steps).map(({ start, seconds }) => ({
    start,
    bin: sql`date_bin(${`${seconds} seconds`}::interval, ${at}, ${start}::timestamptz)`,
  }));
  if (first === undefined) throw new Error('a range has at least one step');
  if (later.length === 0) return first.bin;
  const cases = later.reduceRight((all, { start, bin }) => sql`${all} WHEN ${at} >= ${start} THEN ${bin}`, sql``);
  return sql`CASE ${cases} ELSE ${first.bin} END`;
}

function stepStart(sql: Sql, query: StatisticsQuery): SqlFragment {
  return sql`(${steps(sql, query)})[step]`;
}

function columnsOf(sql: Sql, names: readonly Dimension[], columns: Facts['columns']): SqlFragment {
  return names.reduce((all, name) => sql`${all}, ${columns[name]} AS ${sql(name)}`, sql``);
}

/** The dimensions by which facts are added up: those of a row, and before members are filtered also those of the filter. */
function summedDimensions({ dimensions, filter }: StatisticsQuery, { memberships }: Facts): readonly Dimension[] {
  if (memberships === null) return dimensions;
  const used = new Set([...dimensions, ...(filter === null ? [] : dimensionsOf(filter))]);
  return [...used].filter((name) => memberships.columns[name] === undefined);
}

function summedColumns(sql: Sql, query: StatisticsQuery, facts: Facts): SqlFragment {
  const columns = columnsOf(sql, summedDimensions(query, facts), facts.columns);
  return (facts.memberships?.lists ?? []).reduce((all, name) => sql`${all}, ${sql(name)}`, columns);
}

function summedBy(sql: Sql, query: StatisticsQuery, facts: Facts): SqlFragment {
  const names = [...summedDimensions(query, facts), ...(facts.memberships?.lists ?? [])];
  return names.reduce((all, name) => sql`${all}, ${sql(name)}`, sql``);
}

/** The filter is applied to members if a fact has several, and to facts otherwise. */
function conditionOnFacts(sql: Sql, { filter }: StatisticsQuery, { memberships, columns }: Facts): SqlFragment {
  return memberships === null ? conditionOf(sql, filter, columns) : sql`true`;
}

function dimensionNames(sql: Sql, { dimensions }: StatisticsQuery): SqlFragment {
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
