import type { Violation } from '../../platform/errors.ts';
import { eventTypes, type EventType } from '../catalogue.ts';
import { excessOf, filterLimits as limits, maxFilterSize, type Filter } from './filter.ts';
import { schemaOf } from '../make-event.ts';

/** Path of a field: names in lower case, separated by dots. */
const fieldName = /^[a-z0-9_]+$/;

/** What is wrong with the filter in the body of a request that subscribes `events`. Both are unvalidated input. */
export function filterViolations(filter: unknown, events: unknown): Violation[] {
  if (typeof filter !== 'object' || filter === null) return [];
  const checker = new Checker(Array.isArray(events) ? events : []);
  checker.check(filter, '/filter', 1);
  if (checker.violations.length > 0) return checker.violations;
  const excess = excessOf(filter as Filter);
  return excess === null ? [] : [{ attribute: '/filter', detail: excess }];
}

class Checker {
  readonly violations: Violation[] = [];
  readonly #events: readonly unknown[];
  /** Checking ends beyond the limit: the body of a request may have a million characters. */
  #conditions = 0;

  constructor(events: readonly unknown[]) {
    this.#events = events;
  }

  check(filter: unknown, at: string, depth: number): void {
    if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
      return this.#fail(at, 'must be an object');
    const given: Readonly<Record<string, unknown>> = { ...filter };
    const [operator, ...others] = Object.keys(given).filter((name) => name !== 'field');
    const isGroup = operator === 'all' || operator === 'any';
    const isCondition = operator === 'in' || operator === 'not_in';
    if (others.length > 0 || (!isGroup && !isCondition) || isGroup === 'field' in given)
      return this.#fail(at, 'must have either "field" and one of "in" and "not_in", or one of "all" and "any"');
    if (isGroup) return this.#checkGroup(given[operator], `${at}/${operator}`, depth);
    this.#checkField(given['field'], `${at}/field`);
    return this.#checkValues(given[operator], `${at}/${operator}`);
  }

  #checkGroup(filters: unknown, at: string, depth: number): void {
    if (depth === limits.depth) return this.#fail(at, `must not be nested deeper than ${limits.depth} levels`);
    if (!Array.isArray(filters) || filters.length === 0) return this.#fail(at, 'must be a list of filters, not empty');
    for (const [index, filter] of filters.entries()) {
      if (this.#conditions > maxFilterSize.conditions) return undefined;
      this.check(filter, `${at}/${index}`, depth + 1);
    }
    return undefined;
  }

  #checkField(field: unknown, at: string): void {
    this.#conditions += 1;
    if (typeof field !== 'string' || field.length > limits.fieldLength || !field.split('.').every(isFieldName))
      return this.#fail(at, 'must be the path of a field, such as ticket.site_id');
    const types = this.#events.filter((type): type is EventType => eventTypes.includes(type as EventType));
    // Other violations say what is wrong with the events.
    if (types.length === 0 || types.some((type) => hasValue(schemaOf(type) as FieldNode, field.split('.'))))
      return undefined;
    return this.#fail(at, 'is not a value in any of the subscribed events. GET /event_types lists their fields');
  }

  #checkValues(values: unknown, at: string): void {
    if (!Array.isArray(values) || values.length === 0 || values.length > limits.valuesOfCondition)
      return this.#fail(at, `must be a list of 1 to ${limits.valuesOfCondition} values`);
    for (const [index, value] of (values as unknown[]).entries()) {
      if (typeof value === 'object' && value !== null)
        this.#fail(`${at}/${index}`, 'must be a string, number, boolean or null');
      if (typeof value === 'string' && value.length > limits.valueLength)
        this.#fail(`${at}/${index}`, `must not have more than ${limits.valueLength} characters`);
    }
    return undefined;
  }

  #fail(attribute: string, detail: string): void {
    this.violations.push({ attribute, detail });
  }
}

function isFieldName(name: string): boolean {
  return fieldName.test(name);
}

/** The keywords of JSON Schema by which a field is found. */
interface FieldNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, FieldNode>>;
  readonly items?: FieldNode;
  readonly anyOf?: readonly FieldNode[];
  readonly additionalProperties?: unknown;
}

/** Whether an event of the schema can have a value at the path that is no object. A list has the values of its elements. */
function hasValue(node: FieldNode, path: readonly string[]): boolean {
  if (node.items !== undefined) return hasValue(node.items, path);
  if (node.anyOf !== undefined) return node.anyOf.some((alternative) => hasValue(alternative, path));
  const [name, ...rest] = path;
  const mayBeObject = node.type === undefined || [node.type].flat().includes('object');
  if (name === undefined) return !mayBeObject;
  const { properties = {} } = node;
  const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (field !== undefined) return hasValue(field, rest);
  return mayBeObject && node.additionalProperties !== false;
}
