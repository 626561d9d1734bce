import { readFileSync, writeFileSync } from 'node:fs';
import { errors } from '../packages/server/src/platform/errors.ts';
import { camelCase, namesOf } from '../packages/server/src/platform/reference/openapi/operation-names.ts';
import { onlySchema, typeOf, type OpenApi, type Operation, type Schema } from './api-types.ts';

/**
 * Writes what the SDK knows about the operations from openapi.json: the table of operations, which it uses at run time, the types
 * of its methods, and the codes of errors. `npm run openapi` calls it after writing openapi.json.
 */
const head = '// Written by `npm run openapi` from openapi.json: change the routes of the server instead.';

/** The SDK has methods of its own for these: a feed does not end, and an upload reports its progress. */
const handWritten: ReadonlySet<string> = new Set(['feed.open', 'files.upload']);

interface NamedOperation {
  readonly resource: string;
  readonly method: string;
  /** `GET /queues` */
  readonly operation: string;
  readonly definition: Operation;
}

/** The content of each generated file of the SDK, by its name. */
export function sdkFiles(): ReadonlyMap<string, string> {
  const api = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenApi;
  const named = namedOperations(api);
  return new Map([
    ['operations.ts', operationsFile(named)],
    ['resources.ts', resourcesFile(named, api)],
    ['error-code.ts', errorCodeFile()],
  ]);
}

export function writeSdk(): void {
  for (const [name, text] of sdkFiles()) writeFileSync(`packages/sdk/src/${name}`, text);
}

function namedOperations({ paths }: OpenApi): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([verb, definition]) => {
      const names = namesOf(verb.toUpperCase(), path);
      if (names === null) throw new Error(`${verb.toUpperCase()} ${path} has no name in operation-names.ts`);
      const [resource = '', method = ''] = names.sdk.split('.');
      const operation = `${verb.toUpperCase()} ${path}`;
      return handWritten.has(names.sdk) ? [] : [{ resource, method, operation, definition }];
    }),
  );
}

function operationsFile(named: readonly NamedOperation[]): string {
  const resources = [...Map.groupBy(named, ({ resource }) => resource)].map(([resource, ofResource]) =>
    [`  ${resource}: {`, ...ofResource.map(({ method, operation }) => `    ${method}: '${operation}',`), '  },'].join(
      '\n',
    ),
  );
  const raw = named.filter(({ definition }) => isRaw(definition)).map(({ operation }) => `  '${operation}',`);
  return [
    head,
    'export const operations: Readonly<Record<string, Readonly<Record<string, string>>>> = {',
    ...resources,
    '};',
    '',
    '/** Operations whose answer is not JSON. */',
    'export const rawOperations: ReadonlySet<string> = new Set([',
    ...raw,
    ']);',
    '',
  ].join('\n');
}

function resourcesFile(named: readonly NamedOperation[], api: OpenApi): string {
  const resources = [...Map.groupBy(named, ({ resource }) => resource)].map(([resource, ofResource]) =>
    [`  readonly ${resource}: {`, ...ofResource.map((each) => methodType(each, api)), '  };'].join('\n'),
  );
  const text = ['export interface Resources {', ...resources, '}', ''].join('\n');
  const used = Object.keys(api.components.schemas).filter((name) => new RegExp(`[^\\w"]${name}\\b`).test(text));
  return [
    head,
    `import type { ${used.join(', ')} } from './api-types.ts';`,
    "import type { Call, PagedCall } from './call.ts';",
    "import type { CallOptions } from './operation.ts';",
    '',
    text,
  ].join('\n');
}

function methodType({ method, operation, definition }: NamedOperation, api: OpenApi): string {
  const fields = argumentsOf(definition);
  const isOptional = fields.every(({ isRequired }) => !isRequired);
  const list = fields
    .map(({ name, isRequired, type }) => `readonly ${name}${isRequired ? '' : '?'}: ${type}`)
    .join('; ');
  const args =
    fields.length === 0 ? 'args?: Readonly<Record<never, never>>' : `args${isOptional ? '?' : ''}: { ${list} }`;
  return [
    `    /** ${(definition.summary ?? '').replaceAll('*/', '* /')}. \`${operation}\` */`,
    `    ${method}(${args}, options?: CallOptions): ${callType(definition, api)};`,
  ].join('\n');
}

interface Argument {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
}

function argumentsOf({ parameters = [], requestBody }: Operation): Argument[] {
  const values = parameters
    .filter((parameter) => parameter.in !== 'header')
    .map(({ name, required = false, schema }) => ({
      name: camelCase(name),
      isRequired: required && schema.default === undefined,
      type: typeOf(schema),
    }));
  const schema = requestBody === undefined ? undefined : onlySchema(requestBody);
  if (schema === undefined) return values;
  return [...values, { name: 'body', isRequired: requestBody?.required === true, type: typeOf(schema) }];
}

function callType(definition: Operation, api: OpenApi): string {
  if (isRaw(definition)) return 'Call<Response>';
  const schemas = answersOf(definition).map(onlySchema);
  const type = [...new Set(schemas.map((schema) => (schema === undefined ? 'null' : typeOf(schema))))].join(' | ');
  const items = schemas.length === 1 && schemas[0] !== undefined ? itemsOf(schemas[0], api) : null;
  return items === null ? `Call<${type}>` : `PagedCall<${type}, ${type}['${items}'][number]>`;
}

/** The name of the list in a page; `null` if the answer is not a page. */
function itemsOf(schema: Schema, { components }: OpenApi): string | null {
  const { properties = {} } =
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  if (!('next_page' in properties) && !('next_page_token' in properties)) return null;
  const lists = Object.entries(properties).filter(([, field]) => field.type === 'array');
  if (lists.length !== 1) throw new Error(`a page has ${lists.length} lists: ${Object.keys(properties).join(', ')}`);
  return lists[0]?.[0] ?? null;
}

function answersOf({ responses }: Operation): Operation['responses'][string][] {
  return Object.entries(responses).flatMap(([status, response]) => (status.startsWith('2') ? [response] : []));
}

function isRaw(definition: Operation): boolean {
  const types = answersOf(definition).flatMap(({ content = {} }) => Object.keys(content));
  return types.length > 0 && !types.includes('application/json');
}

function errorCodeFile(): string {
  const codes = Object.keys(errors).map((code) => `  | '${code}'`);
  return [head, '/** The stable codes of refusals. */', 'export type ErrorCode =', `${codes.join('\n')};`, ''].join(
    '\n',
  );
}

if (import.meta.main) writeSdk();
