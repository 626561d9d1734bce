import { readFileSync, writeFileSync } from 'node:fs';
import { withoutBrackets } from '../packages/server/src/platform/reference/openapi/operation-names.ts';

/**
 * Writes the types of `packages/sdk` from openapi.json: one type for each named schema, and `Operations`, the request and
 * response types of each operation. `npm run openapi` calls it after writing openapi.json.
 */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly readOnly?: boolean;
  readonly default?: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

export interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const literal = (value: unknown): string => JSON.stringify(value);

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never';
}

export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map(typeOf));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'unknown' : union(types.map((type) => plainType(type, schema)));
}

function plainType(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${schema.items === undefined ? 'unknown' : typeOf(schema.items)})[]`;
    case 'object':
      return objectType(schema);
    default:
      return type;
  }
}

/** Fields that a client may send back but the server ignores get no type. */
function isIgnored(schema: Schema): boolean {
  return schema.readOnly === true && schema.type === undefined && schema.$ref === undefined;
}

function objectType({ properties, required = [], additionalProperties, patternProperties }: Schema): string {
  const fields = Object.entries(properties ?? {}).filter(([, field]) => !isIgnored(field));
  if (properties === undefined) {
    const rest = Object.values(patternProperties ?? {})[0] ?? additionalProperties;
    return `Readonly<Record<string, ${typeof rest === 'object' ? typeOf(rest) : 'unknown'}>>`;
  }
  const lines = fields.map(
    ([name, field]) => `readonly ${literal(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)};`,
  );
  return `{ ${lines.join(' ')} }`;
}

export function onlySchema({ content = {} }: Content): Schema | undefined {
  return Object.values(content)[0]?.schema;
}

function parametersOf({ parameters = [] }: Operation, location: string): string {
  const fields = parameters
    .filter((parameter) => parameter.in === location)
    .map(
      ({ name, required = false, schema }) =>
        `readonly ${literal(withoutBrackets(name))}${required && schema.default === undefined ? '' : '?'}: ${typeOf(schema)};`,
    );
  return `{ ${fields.join(' ')} }`;
}

function operationType(operation: Operation): string {
  const body = operation.requestBody === undefined ? undefined : onlySchema(operation.requestBody);
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => onlySchema(response))
    .map((schema) => (schema === undefined ? 'null' : typeOf(schema)));
  return `{
    path: ${parametersOf(operation, 'path')};
    query: ${parametersOf(operation, 'query')};
    body: ${body === undefined ? 'undefined' : typeOf(body)}${operation.requestBody?.required === true || body === undefined ? '' : ' | undefined'};
    answer: ${union(answers)};
  }`;
}

export function writeApiTypes(): void {
  const api = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenApi;
  const schemas = Object.entries(api.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `  ${literal(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)};`,
    ),
  );
  const text = [
    '// Written by `npm run openapi` from openapi.json: change the schemas of the server instead.',
    ...schemas,
    'export interface Operations {',
    ...operations,
    '}',
    '',
  ].join('\n');
  writeFileSync('packages/sdk/src/api-types.ts', text);
}

if (import.meta.main) writeApiTypes();
