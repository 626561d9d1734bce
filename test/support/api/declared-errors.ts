import { appendFileSync, readFileSync } from 'node:fs';
import type { Json } from '../server.ts';

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
 * Fails the test file if openapi.json does not declare an error in the log of a server for its operation. It does not throw: a hook that
 * throws keeps others from closing what they have opened. With RECORD_ERRORS the errors are written to that file instead, to complete
 * the declarations.
 */
export function refuseUndeclaredErrors(logged: readonly string[]): void {
  const found = new Set<string>();
  for (const line of logged) {
    const [, method = '', route = '', error = ''] =
      /"method":"(\w+)","route":"([^"]+)","status":\d+,.*"error":"(\w+)"/.exec(line) ?? [];
    if (error === '') continue;
    const responses = declaredErrors().get(`${method} ${route}`);
    if (responses !== undefined && !responses.includes(`"${error}"`)) found.add(`${method} ${route} ${error}`);
  }
  const file = process.env['RECORD_ERRORS'];
  if (file !== undefined) return appendFileSync(file, [...found].map((each) => `${each}\n`).join(''));
  if (found.size === 0) return;
  process.exitCode = 1;
  console.error(
    `platform/reference/openapi/error-codes.ts does not declare these errors for their operations: ${[...found].join(', ')}`,
  );
}
