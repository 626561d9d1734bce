import type { ApiOperation } from './openapi/model.ts';
import { camelCase, namesOf } from './openapi/operation-names.ts';

/** A command that calls the operation. `$URL` and `$TOKEN` are the reader's own. */
export function curlSample(
  method: string,
  path: string,
  { parameters = [], requestBody, security = [] }: ApiOperation,
): string {
  const query = parameters
    .filter(({ in: place, required = false }) => place === 'query' && required)
    .map(({ name }) => `${name}=…`)
    .join('&');
  const url = `"$URL${path}${query === '' ? '' : `?${query}`}"`;
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${url}`,
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...bodyLines(type, content?.example),
  ];
  return lines.join(' \\\n  ');
}

function bodyLines(type: string | undefined, example: unknown): readonly string[] {
  if (type === undefined) return [];
  if (type === 'multipart/form-data') return ['-F content=@file.pdf'];
  return [
    "-H 'content-type: application/json'",
    `-d '${JSON.stringify(example ?? {}).replaceAll("'", String.raw`'\\''`)}'`,
  ];
}

/** The same call with the SDK. Parameters are the reader's own variables. */
export function typescriptSample(
  method: string,
  path: string,
  operation: ApiOperation,
  schemas: Readonly<Record<string, unknown>>,
): string {
  const { sdk = '' } = namesOf(method, path) ?? {};
  if (sdk === 'feed.open') return 'for await (const item of usher.feed.subscribe()) console.log(item.type, item.data);';
  const call = `usher.${sdk}(${sdkArguments(operation)})`;
  if (isPaged(operation, schemas)) return `for await (const item of ${call}) console.log(item);`;
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const hasBody = answers.some(([, { content }]) => content !== undefined);
  return `${hasBody ? 'const answer = ' : ''}await ${call};`;
}

function sdkArguments({ parameters = [], requestBody }: ApiOperation): string {
  const required = parameters
    .filter(({ in: place, required: isRequired = false }) => place !== 'header' && isRequired)
    .map(({ name }) => camelCase(name));
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = type === 'application/json' ? [`body: ${literal(content?.example ?? {})}`] : [];
  const file = type === 'multipart/form-data' ? ['file'] : [];
  const all = [...required, ...file, ...body];
  return all.length === 0 ? '' : `{ ${all.join(', ')} }`;
}

/** A page has the address of the next one. */
function isPaged({ responses }: ApiOperation, schemas: Readonly<Record<string, unknown>>): boolean {
  return Object.values(responses).some(({ content = {} }) => {
    const { $ref = '', ...inPlace } = (content['application/json']?.schema ?? {}) as { readonly $ref?: string };
    const { properties = {} } = (schemas[$ref.split('/').at(-1) ?? ''] ?? inPlace) as { readonly properties?: object };
    return 'next_page' in properties || 'next_page_token' in properties;
  });
}

/** JSON as people write it in TypeScript. */
function literal(value: unknown, indent = ''): string {
  const deeper = `${indent}  `;
  const lines = (open: string, items: readonly string[], close: string): string => {
    const line = `${open}${items.join(', ')}${close}`;
    if (items.length === 0 || (indent.length + line.length <= 60 && !line.includes('\n')))
      return items.length === 0 ? `${open.trim()}${close.trim()}` : line;
    return `${open.trim()}\n${items.map((item) => `${deeper}${item},\n`).join('')}${indent}${close.trim()}`;
  };
  if (Array.isArray(value))
    return lines('[', value.map((item) => literal(item, deeper)), ']'); // prettier-ignore
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${quoteName(name)}: ${literal(field, deeper)}`);
    return lines('{ ', fields, ' }');
  }
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function quoteName(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : quote(name);
}

function quote(text: string): string {
  return text.includes("'")
    ? JSON.stringify(text)
    : `'${JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(String.raw`\"`, '"')}'`;
}
