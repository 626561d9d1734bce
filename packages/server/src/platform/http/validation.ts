import { maxListLength } from '@usher/contract/limits';
import { isOrigin } from '@usher/contract/origin';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import { invalid, Refusal, type Violation } from '../errors.ts';
import { isUuid } from '../ids.ts';

/**
 * Limits on the size and depth of a body (D7.6), so that the cost of validation is bounded. At most 1,000 errors are examined
 * and 100 violations reported.
 */
const limits = { listElements: maxListLength, depth: 32, nodes: 20_000, violations: 100, faults: 1_000 } as const;

type Rules = (value: unknown) => readonly Violation[];
type Check = {
  (rules: Rules, value: unknown, schema: unknown, context?: { instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

/** Implements `checked` of schema.ts as an Ajv keyword. Ajv reads the errors from a property of the function. */
const checkRules: Check = (rules, value, _schema, context) => {
  const violations = rules(value);
  checkRules.errors = violations.map(({ attribute, detail }) => ({
    keyword: 'check',
    instancePath: `${context?.instancePath ?? ''}${attribute}`,
    message: detail,
    params: {},
    schemaPath: '',
  }));
  return violations.length === 0;
};

const options: Options = {
  allErrors: true,
  useDefaults: true,
  strict: false,
  validateFormats: true,
};
// A body is not coerced. A query or path is text that is coerced to numbers, booleans and lists.
// `1e400` in a body is refused by `strictNumbers`; in a query the ranges of the schema refuse it.
const exact = prepare(new Ajv({ ...options, coerceTypes: false, strictNumbers: true }));
const coercing = prepare(new Ajv({ ...options, coerceTypes: 'array' }));

/** The parent of the value that a keyword validates. */
interface Context {
  readonly parentData: unknown;
  readonly parentDataProperty: string | number;
}

/** Replaces the value under validation; `undefined` removes it. */
function replace(context: Context | undefined, value: unknown): void {
  const parent = context?.parentData;
  if (typeof parent !== 'object' || parent === null || context === undefined) return;
  if (value === undefined) Reflect.deleteProperty(parent, context.parentDataProperty);
  else Reflect.set(parent, context.parentDataProperty, value);
}

function prepare(ajv: Ajv): Ajv {
  formats.default(ajv, ['date-time', 'email', 'uri']);
  // The uuid format of ajv-formats also accepts `urn:uuid:…`, which PostgreSQL refuses.
  ajv.addFormat('uuid', isUuid);
  ajv.addKeyword({
    keyword: 'lowercase',
    type: 'string',
    modifying: true,
    errors: false,
    validate: (_on: boolean, text: string, _schema: unknown, context?: Context) => {
      const lower = text.toLowerCase();
      if (lower !== text) replace(context, lower);
      return true;
    },
  });
  ajv.addKeyword({
    keyword: 'uppercase',
    // Must run before `enum` compares the value. The keyword has no type, because Ajv orders only keywords without one.
    before: 'enum',
    modifying: true,
    errors: false,
    validate: (_on: boolean, value: unknown, _schema: unknown, context?: Context) => {
      if (typeof value === 'string') replace(context, value.toUpperCase());
      return true;
    },
  });
  ajv.addKeyword({
    keyword: 'absentIfNull',
    type: 'null',
    modifying: true,
    errors: false,
    validate: (_on: boolean, _null: null, _schema: unknown, context?: Context) => {
      replace(context, undefined);
      return true;
    },
  });
  ajv.addKeyword({ keyword: 'check', errors: 'full', validate: checkRules });
  ajv.addFormat('time-zone', isTimeZone);
  ajv.addFormat('origin', isOrigin);
  return ajv;
}

/** Compiles each schema at its first request: compiling all of them would take a large part of the start-up time. */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? exact : coercing;
  let compiled: ValidateFunction | null = null;
  const validate: ReturnType<FastifySchemaCompiler<object>> = (data) => {
    compiled ??= ajv.compile(schema);
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
};

/** A part of a request that has a schema, by Fastify's name. */
export type RequestPart = 'params' | 'body' | 'querystring' | 'headers';

/** One validation error and the part of the request it is in. */
export interface Fault {
  readonly part: RequestPart;
  readonly error: FastifySchemaValidationError;
}

/** Turns validation errors into a refusal. A malformed id in the path is an unknown id (404). */
export function refusalOfFaults(faults: readonly Fault[]): Refusal {
  if (faults.some(({ part }) => part === 'params'))
    return new Refusal('not_found', 'No resource has this path: its id is not a UUID.');
  const found = faults
    .slice(0, limits.faults)
    .map((fault) => ({ ...violationOf(fault), keyword: fault.error.keyword }));
  const keywords = new Map<string, Set<string>>();
  for (const { attribute, keyword } of found)
    keywords.set(attribute, (keywords.get(attribute) ?? new Set()).add(keyword));
  const seen = new Set<string>();
  const reported: Violation[] = [];
  for (const { attribute, detail, keyword } of found) {
    const key = `${attribute} ${detail}`;
    if (seen.has(key) || isRedundant(keyword, keywords.get(attribute) ?? seen)) continue;
    seen.add(key);
    reported.push({ attribute, detail });
  }
  return invalid(reported.slice(0, limits.violations));
}

/**
 * Whether another violation of the same attribute already covers this one. For a missing value or a wrong type only that is
 * reported. A `check` explains what a `pattern` or `format` only tests. `if` is reported for the fields of the object.
 */
function isRedundant(keyword: string, others: ReadonlySet<string>): boolean {
  if (keyword === 'if') return true;
  if (keyword === 'type' || keyword === 'required') return false;
  return (
    others.has('type') ||
    others.has('required') ||
    ((keyword === 'pattern' || keyword === 'format') && others.has('check'))
  );
}

type AnyError = Pick<ErrorObject, 'instancePath' | 'keyword' | 'message'> & { params: Record<string, unknown> };

function violationOf({ part, error }: Fault): Violation {
  const { instancePath, keyword, params, message }: AnyError = error;
  const at = (field: unknown): string => `${instancePath}/${escapePointer(String(field))}`;
  switch (keyword) {
    case 'required':
      return { attribute: at(params['missingProperty']), detail: 'is required' };
    case 'additionalProperties':
      return {
        attribute: at(params['additionalProperty']),
        detail: part === 'querystring' ? 'is not a query parameter of this operation' : 'is not a known field',
      };
    case 'enum':
      return { attribute: instancePath, detail: `must be one of ${listed(params['allowedValues'])}` };
    case 'type':
      return { attribute: instancePath, detail: `must be ${listed(params['type'])}` };
    case 'minLength':
      return { attribute: instancePath, detail: lengthDetail(params['limit'], 'characters') };
    case 'minItems':
      return { attribute: instancePath, detail: lengthDetail(params['limit'], 'elements') };
    case 'format':
      return { attribute: instancePath, detail: formatDetails[String(params['format'])] ?? message ?? 'is malformed' };
    default:
      return { attribute: instancePath, detail: (message ?? 'is not allowed').replaceAll('NOT', 'not') };
  }
}

const formatDetails: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  'time-zone': 'must be the name of an IANA time zone, such as Europe/Tallinn',
  origin: 'must be an origin, such as https://www.example.com, without a path',
  email: 'must be an e-mail address',
  'date-time': 'must be an ISO 8601 date and time with an offset, such as 2027-01-31T09:00:00Z',
};

function lengthDetail(least: unknown, unit: string): string {
  return least === 1 ? 'is required' : `must have at least ${String(least)} ${unit}`;
}

function listed(values: unknown): string {
  return (Array.isArray(values) ? values : [values]).map((value) => String(value)).join(' or ');
}

function escapePointer(field: string): string {
  return field.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * Refuses what no schema covers: strings that PostgreSQL cannot store (NUL, unpaired surrogates), the key `__proto__`, and
 * structures larger than any field needs. The walk is not recursive, so a deep body cannot exhaust the stack.
 */
export function refuseUnsafe(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const violations: Violation[] = [];
  const open: BodyNode[] = [{ value, parent: null, key: '', depth: 1 }];
  let nodes = 0;
  for (let node = open.pop(); node !== undefined && violations.length < limits.violations; node = open.pop()) {
    if (Array.isArray(node.value) && node.value.length > limits.listElements) {
      violations.push({
        attribute: pointerTo(node),
        detail: `must not have more than ${limits.listElements} elements`,
      });
      continue;
    }
    for (const [key, child] of Object.entries(node.value)) {
      nodes += 1;
      if (nodes > limits.nodes) throw tooMuch(`must not have more than ${limits.nodes} values`);
      const fault = faultOf(key, child);
      if (fault !== null) violations.push(fault(node));
      else if (typeof child === 'object' && child !== null) {
        if (node.depth >= limits.depth) throw tooMuch(`must not be nested deeper than ${limits.depth} levels`);
        open.push({ value: child, parent: node, key, depth: node.depth + 1 });
      }
    }
  }
  if (violations.length > 0) throw invalid(violations);
}

/** A node of the walk. Its JSON pointer is built only for a violation. */
interface BodyNode {
  readonly value: object;
  readonly parent: BodyNode | null;
  readonly key: string;
  readonly depth: number;
}

function pointerTo({ parent, key }: BodyNode): string {
  return parent === null ? '' : `${pointerTo(parent)}/${escapePointer(key)}`;
}

function tooMuch(detail: string): Refusal {
  return invalid([{ attribute: '', detail }]);
}

/** A function that builds the violation of a field; `null` if the field is valid. */
function faultOf(key: string, child: unknown): ((node: BodyNode) => Violation) | null {
  if (!isStorable(key) || key === '__proto__') {
    return (node) => ({ attribute: pointerTo(node), detail: 'has a field with a forbidden name' });
  }
  if (typeof child !== 'string' || isStorable(child)) return null;
  return (node) => ({
    attribute: `${pointerTo(node)}/${escapePointer(key)}`,
    detail: 'must not contain NUL or unpaired surrogates',
  });
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
