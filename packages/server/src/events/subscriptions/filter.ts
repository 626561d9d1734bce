import Type from 'typebox';
import type { EventType } from '../catalogue.ts';
import { loggedTypes } from './subscribers.ts';

/**
 * The filter of a webhook: a condition on the fields of an event. It is compiled once, when the webhook is stored, to a `jsonpath` of
 * PostgreSQL and the values that the path compares with. The statement that inserts deliveries evaluates it, so that an event which
 * does not pass makes no delivery. That statement may write messages of other accounts, too, so the limits bound what the filters
 * of an account cost together (decision 16).
 */

type Scalar = string | number | boolean | null;

/** A condition on one field, or a group of filters. A field that the event does not have never passes. */
export type Filter =
  | { readonly field: string; readonly in: readonly Scalar[] }
  | { readonly field: string; readonly not_in: readonly Scalar[] }
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] };

export const filterLimits = { depth: 4, valuesOfCondition: 100, fieldLength: 200, valueLength: 500 };

/** What the cost of a filter depends on. */
interface FilterSize {
  readonly conditions: number;
  readonly values: number;
  /** Of the filter as JSON. */
  readonly characters: number;
}

/** The limits of one filter, and of all filters of an account together. */
export const maxFilterSize: FilterSize = { conditions: 50, values: 500, characters: 32_768 };
const maxSizeOfAll: FilterSize = { conditions: 50, values: 1_000, characters: 65_536 };

/**
 * A card has up to 100 options, and a condition on them is compared with each: 50 such conditions with 20 values each take 2.7 ms for an
 * event, those on another field 0.28 ms. So such a condition, and each of its values, counts as this many.
 */
const weightOfOptions = 10;
const isOptionField = (field: string): boolean => field.startsWith('message.attachment.options');

/** What a schema cannot express is checked by `filterViolations`. */
export const filterSchema = Type.Unsafe<Filter>({
  type: 'object',
  additionalProperties: true,
  description:
    'Which of the subscribed events are sent; null: all. {"field": "ticket.site_id", "in": […]} passes events whose field has one of ' +
    'the values, or is a list with one of them; "not_in" those whose field has none of them. {"all": […]} and {"any": […]} combine ' +
    `filters, ${filterLimits.depth} levels deep. A condition has at most ${filterLimits.valuesOfCondition} values; a filter has at most ` +
    `${describeSize(maxFilterSize)}, and all filters of an account together ${describeSize(maxSizeOfAll)}; a condition on the options of ` +
    `a card, and each of its values, counts as ${weightOfOptions}. An event without the field does not pass`,
});

/** A filter as the database evaluates it: the values are variables of the path. */
export interface CompiledFilter {
  readonly path: string;
  readonly values: Readonly<Record<string, readonly Scalar[]>>;
}

/**
 * Compiles the filter to `jsonpath`. In its lax mode a missing field is an empty sequence, and a list is compared by its elements. A
 * condition finds its field once, and PostgreSQL then compares with each value in a loop of its own; a path that names the values
 * one by one takes several times as long.
 */
export function compileFilter(filter: Filter): CompiledFilter {
  const values: Record<string, readonly Scalar[]> = {};
  const pathOf = (each: Filter): string => {
    if ('all' in each) return `(${each.all.map(pathOf).join(' && ')})`;
    if ('any' in each) return `(${each.any.map(pathOf).join(' || ')})`;
    const field = `$.${each.field.split('.').map(quoted).join('.')}`;
    const name = `v${Object.keys(values).length}`;
    values[name] = loggedValues(each.field, 'in' in each ? each.in : each.not_in);
    const isIn = `${field} == $${name}[*]`;
    // Values of different types compare as unknown, and its negation is unknown, too; a filter drops what is unknown.
    return 'in' in each ? `(${isIn})` : `(exists (${field}) && !exists ($ ? (${isIn})))`;
  };
  return { path: pathOf(filter), values };
}

function sizeOf(filter: Filter): FilterSize {
  const sizes = conditionsOf(filter).map((each) => {
    const weight = isOptionField(each.field) ? weightOfOptions : 1;
    return { conditions: weight, values: weight * ('in' in each ? each.in : each.not_in).length };
  });
  return {
    conditions: sizes.reduce((sum, { conditions }) => sum + conditions, 0),
    values: sizes.reduce((sum, { values }) => sum + values, 0),
    characters: JSON.stringify(filter).length,
  };
}

type Condition = Extract<Filter, { readonly field: string }>;

function conditionsOf(filter: Filter): readonly Condition[] {
  if ('field' in filter) return [filter];
  return ('all' in filter ? filter.all : filter.any).flatMap(conditionsOf);
}

/** Why these filters are too much for an account; `null`: they are not. */
export function excessOfAll(filters: readonly Filter[]): string | null {
  const sizes = filters.map(sizeOf);
  const sum = (name: keyof FilterSize): number => sizes.reduce((total, size) => total + size[name], 0);
  const isWithin = (name: keyof FilterSize): boolean => sum(name) <= maxSizeOfAll[name];
  if (isWithin('conditions') && isWithin('values') && isWithin('characters')) return null;
  const all = { conditions: sum('conditions'), values: sum('values'), characters: sum('characters') };
  return `makes the filters of all webhooks of the account too large: together they would have ${describeSize(all)}; the limit is ${describeSize(maxSizeOfAll)}`;
}

/** Why the filter is too large; `null`: it is not. */
export function excessOf(filter: Filter): string | null {
  const { conditions, values, characters } = sizeOf(filter);
  const ofOptions = conditionsOf(filter).some(({ field }) => isOptionField(field))
    ? `; a condition on the options of a card, and each of its values, counts as ${weightOfOptions}`
    : '';
  if (conditions > maxFilterSize.conditions)
    return `must not have more than ${maxFilterSize.conditions} conditions${ofOptions}`;
  if (values > maxFilterSize.values)
    return `must not have more than ${maxFilterSize.values} values in all its conditions together${ofOptions}`;
  if (characters > maxFilterSize.characters) return `must be at most ${maxFilterSize.characters} characters as JSON`;
  return null;
}

function describeSize({ conditions, values, characters }: FilterSize): string {
  return `${conditions} conditions, ${values} values and ${characters} characters as JSON`;
}

/** Literals of `jsonpath` are written like those of JSON. */
function quoted(value: Scalar): string {
  return JSON.stringify(value);
}

/** The log has one of the two names of an event type: see `loggedTypes`. */
function loggedValues(field: string, values: readonly Scalar[]): readonly Scalar[] {
  if (field !== 'event_type') return values;
  return values.flatMap<Scalar>((value) => (typeof value === 'string' ? loggedTypes([value as EventType]) : [value]));
}
