import Type from 'typebox';
import type { EventType } from './catalogue.ts';
import { loggedTypes } from './subscribers.ts';

/**
 * The filter of a webhook: a condition on the fields of an event. It is compiled once, when the webhook is stored, to a `jsonpath` of
 * PostgreSQL. The statement that inserts deliveries evaluates it, so that an event which does not pass makes no delivery.
 */

type Scalar = string | number | boolean | null;

/** A condition on one field, or a group of filters. A field that the event does not have never passes. */
export type Filter =
  | { readonly field: string; readonly in: readonly Scalar[] }
  | { readonly field: string; readonly not_in: readonly Scalar[] }
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] };

export const filterLimits = { depth: 4, conditions: 50, values: 100, fieldLength: 200, valueLength: 500 };

/** What a schema cannot express is checked by `filterViolations`. */
export const filterSchema = Type.Unsafe<Filter>({
  type: 'object',
  additionalProperties: true,
  description:
    'Which of the subscribed events are sent; null: all. {"field": "ticket.site_id", "in": […]} passes events whose field has one of ' +
    'the values, or is a list with one of them; "not_in" those whose field has none of them. {"all": […]} and {"any": […]} combine ' +
    `filters, ${filterLimits.depth} levels deep, with at most ${filterLimits.conditions} conditions of ${filterLimits.values} values. An event without the field does not pass`,
});

/** The filter as `jsonpath`. In its lax mode a missing field is an empty sequence, and a list is compared by its elements. */
export function compileFilter(filter: Filter): string {
  if ('all' in filter) return `(${filter.all.map(compileFilter).join(' && ')})`;
  if ('any' in filter) return `(${filter.any.map(compileFilter).join(' || ')})`;
  const path = `$.${filter.field.split('.').map(quoted).join('.')}`;
  const isIn = (values: readonly Scalar[]): string =>
    `(${loggedValues(filter.field, values)
      .map((value) => `${path} == ${quoted(value)}`)
      .join(' || ')})`;
  if ('in' in filter) return isIn(filter.in);
  const isOne = isIn(filter.not_in);
  // Values of different types compare as unknown, and the negation of unknown is unknown.
  return `(exists (${path}) && (!${isOne} || ${isOne} is unknown))`;
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
