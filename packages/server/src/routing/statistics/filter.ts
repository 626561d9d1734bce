import type { Violation } from '../../platform/errors.ts';
import { isUuid, type SiteId } from '../../platform/ids.ts';

/** What statistics can be grouped and filtered by. A dimension that a statistic does not have is `null`. */
export const dimensions = [
  'site_id',
  'queue_id',
  'operator_id',
  'team_id',
  'type',
  'end_reason',
  'media',
  'highest_operator_media',
  'outcome',
  'destination_queue_id',
  'user_type',
] as const;
export type Dimension = (typeof dimensions)[number];

const ids: ReadonlySet<Dimension> = new Set(['site_id', 'queue_id', 'operator_id', 'team_id', 'destination_queue_id']);

/** Whether the values of the dimension are ids. */
export function isId(dimension: Dimension): boolean {
  return ids.has(dimension);
}

/** A validated filter. The value `null` matches a missing dimension. */
export type Filter =
  | { readonly type: 'and' | 'or'; readonly fields: readonly Filter[] }
  | { readonly type: 'not'; readonly field: Filter }
  | { readonly type: 'in'; readonly dimension: Dimension; readonly values: readonly (string | null)[] };

const filterTypes = ['and', 'or', 'not', 'selector', 'in'] as const;

/** Limits on filters, so that the cost of the statement is bounded. */
export const filterLimits = { depth: 10, filters: 200, values: 1_000, length: 255 } as const;

interface Reading {
  readonly violations: Violation[];
  filters: number;
}

/** Reads a filter from its JSON form. The filter is `null` if it is invalid; `violations` then lists every broken rule. */
export function readFilter(given: unknown, attribute = '/filter'): { filter: Filter | null; violations: Violation[] } {
  const reading: Reading = { violations: [], filters: 0 };
  const filter = read(given, { at: attribute, depth: 1, reading });
  return { filter: reading.violations.length === 0 ? filter : null, violations: reading.violations };
}

/** The position of the reader in the filter. */
interface FilterPosition {
  readonly at: string;
  readonly depth: number;
  readonly reading: Reading;
}

function read(given: unknown, position: FilterPosition): Filter | null {
  const { at, depth, reading } = position;
  const refuse = (attribute: string, detail: string): null => {
    reading.violations.push({ attribute, detail });
    return null;
  };
  reading.filters += 1;
  if (reading.filters > filterLimits.filters)
    return reading.filters === filterLimits.filters + 1
      ? refuse('/filter', `must not have more than ${filterLimits.filters} filters`)
      : null;
  if (depth > filterLimits.depth) return refuse(at, `must not be nested deeper than ${filterLimits.depth} levels`);
  if (!isObject(given)) return refuse(at, 'must be an object with a type');
  const inside = (name: string): FilterPosition => ({ at: `${at}/${name}`, depth: depth + 1, reading });
  const { type } = given;
  switch (type) {
    case 'and':
    case 'or': {
      refuseOthers(given, ['type', 'fields'], position);
      const { fields } = given;
      if (!Array.isArray(fields) || fields.length === 0) return refuse(`${at}/fields`, 'must be a list of filters');
      const found = (fields as unknown[]).map((field, index) => read(field, inside(`fields/${index}`)));
      return { type, fields: found.filter((each) => each !== null) };
    }
    case 'not': {
      refuseOthers(given, ['type', 'field'], position);
      const field = read(given['field'], inside('field'));
      return field === null ? null : { type, field };
    }
    case 'selector': {
      refuseOthers(given, ['type', 'dimension', 'value'], position);
      const values = [readValue(given['value'], `${at}/value`, reading)];
      return withDimension(given['dimension'], values, position);
    }
    case 'in': {
      refuseOthers(given, ['type', 'dimension', 'values'], position);
      const { values } = given;
      if (!Array.isArray(values) || values.length === 0 || values.length > filterLimits.values)
        refuse(`${at}/values`, `must be a list of 1 to ${filterLimits.values} values`);
      const list = Array.isArray(values) ? (values as unknown[]).slice(0, filterLimits.values) : [];
      const found = list.map((value, index) => readValue(value, `${at}/values/${index}`, reading));
      return withDimension(given['dimension'], found, position);
    }
    default:
      return refuse(`${at}/type`, `must be one of ${filterTypes.join(', ')}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseOthers(given: Record<string, unknown>, known: readonly string[], { at, reading }: FilterPosition): void {
  for (const field of Object.keys(given))
    if (!known.includes(field))
      reading.violations.push({ attribute: `${at}/${field}`, detail: 'is not a known field' });
}

function withDimension(
  given: unknown,
  values: readonly (string | null)[],
  { at, reading }: FilterPosition,
): Filter | null {
  const dimension = dimensions.find((each) => each === given);
  if (dimension !== undefined)
    return { type: 'in', dimension, values: isId(dimension) ? values.map(lowerCase) : values };
  reading.violations.push({ attribute: `${at}/dimension`, detail: `must be one of ${dimensions.join(', ')}` });
  return null;
}

function lowerCase(value: string | null): string | null {
  return value?.toLowerCase() ?? null;
}

/** An empty value matches a missing dimension. */
function readValue(given: unknown, attribute: string, { violations }: Reading): string | null {
  if (given === undefined || given === null || given === '') return null;
  if (typeof given === 'string' && given.length <= filterLimits.length && !given.includes('\0')) return given;
  violations.push({ attribute, detail: `must be text of at most ${filterLimits.length} characters, or empty` });
  return null;
}

/** The sites that the filter names and does not exclude. */
export function sitesNamed(filter: Filter): SiteId[] {
  const named = new Set(valuesOf(filter, 'site_id'));
  return [...named].filter((site) => isUuid(site) && mayMatch(filter, site)) as SiteId[];
}

function valuesOf(filter: Filter, dimension: Dimension): string[] {
  switch (filter.type) {
    case 'and':
    case 'or':
      return filter.fields.flatMap((field) => valuesOf(field, dimension));
    case 'not':
      return valuesOf(filter.field, dimension);
    case 'in':
      return filter.dimension === dimension ? filter.values.filter((value) => value !== null) : [];
  }
}

/** Whether the filter may match a row of the site, depending on its other dimensions. */
export function mayMatch(filter: Filter, site: string): boolean {
  return verdict(filter, site) !== 'never';
}

type Verdict = 'always' | 'never' | 'depends';

function verdict(filter: Filter, site: string): Verdict {
  switch (filter.type) {
    case 'and':
      return together(filter, site, 'never', 'always');
    case 'or':
      return together(filter, site, 'always', 'never');
    case 'not': {
      const field = verdict(filter.field, site);
      if (field === 'depends') return field;
      return field === 'always' ? 'never' : 'always';
    }
    case 'in':
      if (filter.dimension !== 'site_id') return 'depends';
      return filter.values.includes(site) ? 'always' : 'never';
  }
}

/** Combines fields: one field with the verdict `decides` decides; if all are `neutral`, the result is `neutral`. */
function together(
  { fields }: Extract<Filter, { readonly fields: unknown }>,
  site: string,
  decides: Verdict,
  neutral: Verdict,
): Verdict {
  const found = fields.map((field) => verdict(field, site));
  if (found.includes(decides)) return decides;
  return found.every((each) => each === neutral) ? neutral : 'depends';
}

/** The dimensions that the filter uses. */
export function dimensionsOf(filter: Filter): Dimension[] {
  switch (filter.type) {
    case 'and':
    case 'or':
      return filter.fields.flatMap(dimensionsOf);
    case 'not':
      return dimensionsOf(filter.field);
    case 'in':
      return [filter.dimension];
  }
}
