import type { Json } from '../server.ts';

/** A query parameter as openapi.json describes it. */
export interface QueryParameter {
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Json;
}

/** Ids of existing objects, by the name of a parameter. */
export type QueryIds = Readonly<Record<string, string>>;

const dayMs = 86_400_000;
const instant = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

/** Valid values of parameters whose schema does not determine them. */
const values: Readonly<Record<string, () => readonly string[]>> = {
  since: () => [instant(-1)],
  from: () => [instant(-1)],
  start_date: () => [instant(-1)],
  until: () => [instant(1)],
  to: () => [instant(1)],
  end_date: () => [instant(1)],
  action: () => ['team.update'],
  target_type: () => ['team'],
  contains: () => ['ADMIN', '%_'],
  hostname: () => ['shop.example.com'],
  confirm: () => ['Another site'],
  page: () => ['2'],
  time_zone: () => ['Europe/Tallinn'],
  service_level_sec: () => ['30'],
  short_duration_sec: () => ['3'],
  per_page: () => ['1'],
};

/** A parameter and its former name are not given together. */
const successors: Readonly<Record<string, string>> = { since: 'from', until: 'to' };

/**
 * Queries that together cover every parameter of a route: one for each value of each parameter, with the required parameters,
 * and one with all. A filter is part of the SQL only if the query has it. `cursor` is left out: only the server makes cursors.
 */
export function queryVariants(parameters: readonly QueryParameter[], ids: QueryIds): string[] {
  const withTexts = parameters
    .filter(({ name }) => name !== 'cursor')
    .map((parameter) => ({ ...parameter, texts: texts(parameter, ids) }));
  const first = ({ texts: [text = ''] }: { texts: readonly string[] }): string => text;
  const needed = withTexts.filter(({ required = false }) => required);
  const each = withTexts.flatMap((parameter) =>
    parameter.texts.map((text) => [...needed.filter(({ name }) => name !== parameter.name).map(first), text]),
  );
  const names = new Set(parameters.map(({ name }) => name));
  const together = withTexts.filter(({ name }) => !names.has(successors[name] ?? ''));
  return [...each, together.map(first)].map((query) => `?${query.join('&')}`);
}

/** Filters of statistics: each kind of filter, with a dimension of each type. */
const filters: readonly string[] = [
  'filter[type]=selector&filter[dimension]=type&filter[value]=',
  'filter[type]=in&filter[dimension]=queue_id&filter[values][]=none&filter[values][]=00000000-0000-4000-8000-000000000000',
  'filter[type]=not&filter[field][type]=selector&filter[field][dimension]=team_id&filter[field][value]=',
  ...['and', 'or'].map(
    (type) =>
      `filter[type]=${type}&filter[fields][0][type]=selector&filter[fields][0][dimension]=outcome&filter[fields][0][value]=engaged`,
  ),
];

/** `name=value` for each value of the parameter. */
function texts({ name, schema }: QueryParameter, ids: QueryIds): string[] {
  if (name === 'filter') return [...filters];
  const found = valuesOf(name.replace('[]', ''), schema.type === 'array' ? schema.items : schema, ids);
  if (found.length === 0) throw new Error(`say in test/support/api/query-variants.ts what a valid ${name} is`);
  return found.map((value) => `${name}=${encodeURIComponent(value)}`);
}

function valuesOf(name: string, schema: Json, ids: QueryIds): readonly string[] {
  const own = ids[name] ?? ids[name.replace(/s$/, '')];
  if (own !== undefined) return [own];
  if (values[name] !== undefined) return values[name]();
  if (schema.enum !== undefined) return schema.enum;
  if (schema.type === 'boolean') return ['true', 'false'];
  return schema.default === undefined ? [] : [String(schema.default)];
}
