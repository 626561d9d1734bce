import { maxListLength } from '@usher/contract/limits';
import { isOrigin } from '@usher/contract/origin';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import { invalid, Refusal, type Violation } from './errors.ts';
import { isUuid } from './ids.ts';

/**
 * No list in a body may be longer (D7.6), no body deeper or larger in pieces: what validation costs has a bound. At most
 * 1,000 faults are looked at, and 100 violations reported.
 */
const limits = { listElements: maxListLength, depth: 32, nodes: 20_000, violations: 100, faults: 1_000 } as const;

type Rules = (value: unknown) => readonly Violation[];
type Check = {
  (rules: Rules, value: unknown, schema: unknown, context?: { instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

/** The keyword behind `checked` in schema.ts. Ajv takes a keyword's errors from its function. */
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
// A body means what it says; a query or path is text, from which numbers, booleans and lists are made.
// `1e400` in a body is no number; in a query, where text becomes one, the ranges refuse it.
const exact = prepare(new Ajv({ ...options, coerceTypes: false, strictNumbers: true }));
const coercing = prepare(new Ajv({ ...options, coerceTypes: 'array' }));

/** Where the value that a keyword looks at stands. */
interface Context {
  readonly parentData: unknown;
  readonly parentDataProperty: string | number;
}

/** Puts another value in the place of the one that is looked at; `undefined` takes it away. */
function replace(context: Context | undefined, value: unknown): void {
  const parent = context?.parentData;
  if (typeof parent !== 'object' || parent === null || context === undefined) return;
  if (value === undefined) Reflect.deleteProperty(parent, context.parentDataProperty);
  else Reflect.set(parent, context.parentDataProperty, value);
}

function prepare(ajv: Ajv): Ajv {
  formats.default(ajv, ['date-time', 'email', 'uri']);
  // The one of ajv-formats also takes `urn:uuid:…`, which PostgreSQL does not.
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
    // The values that are allowed are compared after it. Both are of no type: Ajv keeps an order only among those.
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

/** Made when the first request needs it: all of them at once are a good part of the time that a start takes. */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? exact : coercing;
  let made: ValidateFunction | null = null;
  const validate: ReturnType<FastifySchemaCompiler<object>> = (data) => {
    made ??= ajv.compile(schema);
    const fits = made(data);
    validate.errors = made.errors ?? null;
    return fits;
  };
  return validate;
};

/** A part of a request that has a schema, as Fastify calls it. */
export type RequestPart = 'params' | 'body' | 'querystring' | 'headers';

/** One error of a validation, and where it was found. */
export interface Fault {
  readonly part: RequestPart;
  readonly error: FastifySchemaValidationError;
}

/** What failed validations are answered with: an id in the path that cannot be one is an unknown id. */
export function refusalOfFaults(faults: readonly Fault[]): Refusal {
  if (faults.some(({ part }) => part === 'params'))
    return new Refusal('not_found', 'There is nothing at this address: its id is not a UUID.');
  const found = faults
    .slice(0, limits.faults)
    .map((fault) => ({ ...violationOf(fault), keyword: fault.error.keyword }));
  const keywords = new Map<string, Set<string>>();
  for (const { attribute, keyword } of found)
    keywords.set(attribute, (keywords.get(attribute) ?? new Set()).add(keyword));
  const seen = new Set<string>();
  const told: Violation[] = [];
  for (const { attribute, detail, keyword } of found) {
    const key = `${attribute} ${detail}`;
    if (seen.has(key) || isSaidBy(keyword, keywords.get(attribute) ?? seen)) continue;
    seen.add(key);
    told.push({ attribute, detail });
  }
  return invalid(told.slice(0, limits.violations));
}

/**
 * Whether another violation of the same attribute says it already. A value that is missing or of the wrong type has that one
 * fault. A rule of ours says in words what the schema says in a pattern. A fault in the shape of an object is reported for its
 * fields.
 */
function isSaidBy(keyword: string, others: ReadonlySet<string>): boolean {
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

function listed(values: unknown): string {
  return (Array.isArray(values) ? values : [values]).map((value) => String(value)).join(' or ');
}

function escapePointer(field: string): string {
  return field.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * What no schema says: strings PostgreSQL cannot hold (NUL, half of a surrogate pair), keys that reach for a prototype,
 * and structures larger than any field could need. Walks without recursion, so depth cannot exhaust the stack.
 */
export function refuseUnsafe(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const violations: Violation[] = [];
  const open: Place[] = [{ value, parent: null, key: '', depth: 1 }];
  let nodes = 0;
  for (let place = open.pop(); place !== undefined && violations.length < limits.violations; place = open.pop()) {
    if (Array.isArray(place.value) && place.value.length > limits.listElements) {
      violations.push({
        attribute: pointerTo(place),
        detail: `must not have more than ${limits.listElements} elements`,
      });
      continue;
    }
    for (const [key, child] of Object.entries(place.value)) {
      nodes += 1;
      if (nodes > limits.nodes) throw tooMuch(`must not have more than ${limits.nodes} values`);
      const fault = faultOf(key, child);
      if (fault !== null) violations.push(fault(place));
      else if (typeof child === 'object' && child !== null) {
        if (place.depth >= limits.depth) throw tooMuch(`must not be nested deeper than ${limits.depth} levels`);
        open.push({ value: child, parent: place, key, depth: place.depth + 1 });
      }
    }
  }
  if (violations.length > 0) throw invalid(violations);
}

/** Where the walk is; the pointer to it is made only if something is wrong there. */
interface Place {
  readonly value: object;
  readonly parent: Place | null;
  readonly key: string;
  readonly depth: number;
}

function pointerTo({ parent, key }: Place): string {
  return parent === null ? '' : `${pointerTo(parent)}/${escapePointer(key)}`;
}

function tooMuch(detail: string): Refusal {
  return invalid([{ attribute: '', detail }]);
}

/** What is wrong with a field, told once its place is known; `null` if nothing is. */
function faultOf(key: string, child: unknown): ((place: Place) => Violation) | null {
  if (!isStorable(key) || key === '__proto__') {
    return (place) => ({ attribute: pointerTo(place), detail: 'has a field with a forbidden name' });
  }
  if (typeof child !== 'string' || isStorable(child)) return null;
  return (place) => ({
    attribute: `${pointerTo(place)}/${escapePointer(key)}`,
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
