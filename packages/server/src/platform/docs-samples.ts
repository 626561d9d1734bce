import type { ApiOperation } from './openapi/model.ts';

/** A command that calls the operation. `$URL` and `$TOKEN` are the reader's own. */
export function curlSample(
  method: string,
  path: string,
  { parameters = [], requestBody, security = [] }: ApiOperation,
): string {
  const query = parameters
    .filter(({ in: place, required = false }) => place === 'query' && required)
    .map(({ name, schema }) => `${name}${isList(schema) ? '[]' : ''}=…`)
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

function isList(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'array';
}
