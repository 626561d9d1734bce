import { appendFileSync, readFileSync } from 'node:fs';
import type { Json } from './server.ts';

let declared: Map<string, string> | null = null;

/** By method and route, as the log names them: the errors that openapi.json declares, as text. */
function declaredErrors(): Map<string, string> {
  if (declared !== null) return declared;
  const { paths, components }: Json = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const resolved = ({ $ref = '' }: Json): Json => components.responses?.[$ref.split('/').at(-1)];
  declared = new Map(
    Object.entries<Json>(paths).flatMap(([path, operations]) =>
      Object.entries<Json>(operations).map(([method, { responses }]): [string, string] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        JSON.stringify(Object.values(responses).map(resolved)),
      ]),
    ),
  );
  return declared;
}

/**
 * The errors in the log of a server that openapi.json does not declare for their operation. With RECORD_ERRORS they are written to that
 * file instead, to complete the declarations.
 */
export function undeclaredErrors(logged: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const line of logged) {
    const [, method = '', route = '', error = ''] =
      /"method":"(\w+)","route":"([^"]+)","status":\d+,.*"error":"(\w+)"/.exec(line) ?? [];
    if (error === '') continue;
    const responses = declaredErrors().get(`${method} ${route}`);
    if (responses !== undefined && !responses.includes(`"${error}"`)) found.add(`${method} ${route} ${error}`);
  }
  const file = process.env['RECORD_ERRORS'];
  if (file === undefined) return [...found];
  appendFileSync(file, [...found].map((each) => `${each}\n`).join(''));
  return [];
}
