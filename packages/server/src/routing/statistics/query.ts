import { defaultServiceLevelSec, maxServiceLevelSec } from '@usher/contract/limits';
import Type from 'typebox';
import type { OperatorCaller } from '../../identity/caller.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import { invalid, type Violation } from '../../platform/errors.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import { list, oneOf } from '../../platform/schema.ts';
import { canonicalTimeZone } from '../../schedules/time-zones.ts';
import { dimensions, filterLimits, mayMatch, readFilter, sitesNamed, type Dimension, type Filter } from './filter.ts';
import { granularities, stepsOf, type Granularity } from './steps.ts';

/** The longest range. With the finest granularity it has 35,136 steps. */
const maxRangeMs = 366 * 86_400_000;

const dateText = (subject: string) =>
  Type.String({
    maxLength: 64,
    description: `${subject}: a date and time, or a date, which means its midnight. Without an offset it is in the time zone of the steps`,
  });

const filterSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: `\`{type: "and"|"or", fields: [filter…]}\`, \`{type: "not", field: filter}\`, \`{type: "selector", dimension,
value}\` (an empty value matches a missing dimension), \`{type: "in", dimension, values: […]}\`. At most ${filterLimits.filters}
filters, ${filterLimits.depth} deep. In a query string with brackets: \`filter[fields][0][dimension]=site_id\`.`,
});

/** Parameters of every statistic, in the query string or in a JSON body. */
export const statisticsFields = {
  query_type: Type.Optional(oneOf(['group_by'])),
  dimensions: Type.Optional(
    Type.Unsafe<Dimension[]>({
      ...list(oneOf(dimensions), { maxItems: dimensions.length, uniqueItems: true }),
      description: 'What to group by. A row has the value of each dimension, or null if it has none',
    }),
  ),
  granularity: Type.Optional(
    Type.Unsafe<Granularity>({
      ...oneOf(granularities),
      description: 'The length of a step; default: one step for the whole range',
    }),
  ),
  start_date: dateText('The start of the range'),
  end_date: dateText('The end of the range, which is not part of the range; at most 366 days after the start'),
  filter: Type.Optional(filterSchema),
  time_zone: Type.Optional(
    Type.String({
      format: 'time-zone',
      description: 'The time zone of the steps; default: that of the site if only one site is concerned, otherwise UTC',
    }),
  ),
};

export const waitFields = {
  ...statisticsFields,
  service_level_sec: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxServiceLevelSec,
      description: `For within_service_level_count; default: ${defaultServiceLevelSec}`,
    }),
  ),
  short_duration_sec: Type.Optional(
    Type.Number({ minimum: 0, maximum: maxServiceLevelSec, description: 'For short_duration_count; default: 5' }),
  ),
};

/** The parameters of a statistic, merged from query string and body. */
export interface StatisticsInput {
  readonly dimensions?: readonly Dimension[];
  readonly granularity?: Granularity;
  readonly start_date?: string;
  readonly end_date?: string;
  readonly filter?: Record<string, unknown>;
  readonly time_zone?: string;
  readonly service_level_sec?: number;
  readonly short_duration_sec?: number;
}

/** A validated and permitted query. */
export interface StatisticsQuery {
  readonly accountId: AccountId;
  /** The sites that the caller may see and the filter does not exclude. */
  readonly siteIds: readonly SiteId[];
  readonly dimensions: readonly Dimension[];
  readonly filter: Filter | null;
  readonly from: Date;
  readonly to: Date;
  /** The starts of the steps; the first may be before the range. */
  readonly steps: readonly Date[];
  readonly serviceLevelSec: number;
  readonly shortSec: number;
}

/** The time zone of a site. */
type ZoneOfSite = (siteId: SiteId) => Promise<string>;

/**
 * The sites concerned are those that the filter names, and the caller must be a manager on each. Without a filter by site they are
 * all sites on which the caller is a manager. Other sites are never counted.
 */
export async function readStatisticsQuery(
  input: StatisticsInput,
  caller: OperatorCaller,
  zoneOfSite: ZoneOfSite,
): Promise<StatisticsQuery> {
  const { filter, violations } =
    input.filter === undefined ? { filter: null, violations: [] } : readFilter(input.filter);
  const missing = (['start_date', 'end_date'] as const).filter((field) => input[field] === undefined);
  violations.push(...missing.map((field) => ({ attribute: `/${field}`, detail: 'is required' })));
  if (violations.length > 0) throw invalid(violations);
  const siteIds = sitesConcerned(caller, filter);
  const timeZone = await zoneFor(input, siteIds, zoneOfSite);
  const { from, to } = rangeOf(input, timeZone);
  const { granularity = 'all' } = input;
  return {
    accountId: caller.accountId,
    siteIds,
    dimensions: input.dimensions ?? [],
    filter,
    from: new Date(from),
    to: new Date(to),
    steps: stepsOf({ from, to, granularity, timeZone }).map((at) => new Date(at)),
    serviceLevelSec: input.service_level_sec ?? defaultServiceLevelSec,
    shortSec: input.short_duration_sec ?? 5,
  };
}

function sitesConcerned(caller: OperatorCaller, filter: Filter | null): readonly SiteId[] {
  const all = requestedSites(caller, undefined, 'manager');
  if (filter === null) return all;
  requestedSites(caller, sitesNamed(filter), 'manager');
  return all.filter((site) => mayMatch(filter, site));
}

async function zoneFor({ time_zone }: StatisticsInput, siteIds: readonly SiteId[], zoneOfSite: ZoneOfSite) {
  const [only, ...others] = siteIds;
  const name = time_zone ?? (only === undefined || others.length > 0 ? 'UTC' : await zoneOfSite(only));
  return canonicalTimeZone(name) ?? 'UTC';
}

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T00:00:00Z');

function rangeOf(
  { start_date = '', end_date = '' }: StatisticsInput,
  timeZone: string,
): { readonly from: number; readonly to: number } {
  const from = instantOf(start_date, timeZone);
  const to = instantOf(end_date, timeZone);
  const detail = 'must be an ISO 8601 date, or a date and time, such as 2027-01-31 or 2027-01-31T09:00:00Z';
  const violations: Violation[] = [];
  if (from === null) violations.push({ attribute: '/start_date', detail });
  if (to === null) violations.push({ attribute: '/end_date', detail });
  if (from !== null && to !== null && (to < from || to - from > maxRangeMs))
    violations.push({
      attribute: '/end_date',
      detail: 'must be between start_date and 366 days after it',
    });
  if (from === null || to === null || violations.length > 0) throw invalid(violations);
  return { from, to };
}

/** A date, optionally with a time (group 1) and its offset (group 2). */
const shape = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** `null`: the text is not a valid instant. */
function instantOf(text: string, timeZone: string): number | null {
  const found = shape.exec(text);
  if (found === null) return null;
  const [, time, offset] = found;
  try {
    const at = offset === undefined ? localInstant(text, time, timeZone) : Temporal.Instant.from(text);
    return at.epochMilliseconds >= earliest && at.epochMilliseconds <= latest ? at.epochMilliseconds : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A date means its first instant. A skipped local time is moved forward by the gap; of a repeated one the first is taken. */
function localInstant(text: string, time: string | undefined, timeZone: string): Temporal.Instant {
  const local =
    time === undefined
      ? Temporal.PlainDate.from(text).toZonedDateTime(timeZone)
      : Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone);
  return local.toInstant();
}
