import type { DeclaredAccess } from '../../../packages/server/src/identity/declared-access.ts';
import type { Example } from '../../../packages/server/src/platform/reference/api-examples.ts';
import { openCast, type Cast } from './cast.ts';
import { callerKinds, expectedAccess, type CallerKind } from './expected-access.ts';
import { makeTargets } from './route-targets.ts';
import { call, type Answer } from '../server.ts';
import { hasSucceeded, validRequest } from './valid-requests.ts';

/** `GET /queues/:queue_id` → `GET /queues/{queue_id}`, as in openapi.json. */
export function operationOf({ method, url }: Pick<DeclaredAccess, 'method' | 'url'>): string {
  return `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
}

/** Operations that operators may use, too, but rarely do. */
const usualCallers: Readonly<Record<string, CallerKind>> = { 'POST /queue_tickets': 'visitor' };

/** Whose request is the example: of those who may, the one with the most rights, unless another is usual. */
export function exampleCaller({ method, url, access }: DeclaredAccess): CallerKind {
  const usual = usualCallers[`${method} ${url}`];
  if (usual !== undefined) return usual;
  const order: readonly CallerKind[] = ['super_manager', 'visitor', 'secret', ...callerKinds];
  return order.find((kind) => expectedAccess(access, kind) === 'allowed') ?? 'nobody';
}

/** Calls every operation of the list once, and returns the requests and answers by operation. */
export async function recordExamples(operations: ReadonlySet<string>): Promise<Map<string, Example>> {
  await using cast = await openCast();
  const examples = new Map<string, Example>();
  for (const route of cast.server.app.declaredAccess) {
    const operation = operationOf(route);
    if (!operations.has(operation) || operation === 'GET /feed') continue;
    examples.set(operation, await recordExample(cast, route));
  }
  return examples;
}

async function recordExample(cast: Cast, route: DeclaredAccess): Promise<Example> {
  const kind = exampleCaller(route);
  const targets = await makeTargets(cast, route, kind);
  // Some targets are inserted directly, and the server must have been notified.
  await cast.server.changes.caughtUp();
  const { path, query, token, body, headers } = await validRequest(cast, route, { kind, targets });
  const answer = await call(cast.server, `${route.method} ${path}${query}`, { token, body, headers });
  if (!hasSucceeded(route, answer.status))
    throw new Error(`${operationOf(route)} answers ${answer.status}: ${JSON.stringify(answer.body)}`);
  return exampleOf(body, answer);
}

const shownHeaders = ['etag', 'location'] as const;

export function exampleOf(request: unknown, { status, headers, body }: Answer): Example {
  const isJson = (headers.get('content-type') ?? '').startsWith('application/json');
  return {
    ...(isPlain(request) ? { request } : {}),
    status,
    headers: shownHeaders.filter((name) => headers.has(name)),
    ...(isJson ? { response: body as unknown } : {}),
  };
}

/** A form has no JSON. */
function isPlain(body: unknown): boolean {
  return body !== undefined && !(body instanceof FormData) && !(body instanceof Uint8Array);
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

/** Two elements show that there can be several. */
const maxElements = 2;

/** Replaces what is different in every run, or looks like a secret. */
export class ExampleText {
  readonly #ids = new Map<string, string>();

  clean(example: Example): Example {
    return JSON.parse(JSON.stringify(example), (key, value: unknown) => {
      if (Array.isArray(value)) return value.slice(0, maxElements);
      return typeof value === 'string' ? this.#cleanText(key, value) : value;
    }) as Example;
  }

  #cleanText(key: string, text: string): string {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return '2027-01-31T09:00:00.000Z';
    if (text.startsWith('eyJ')) return 'eyJhbGciOiJFZERTQSJ9.…';
    if (/^(?:usk|usl|usi|pub|sec|uat|whsec)_/.test(text)) return `${text.split('_', 1)[0] ?? ''}_…`;
    if (/^[\w-]{40,}$/.test(text) && /secret|password|token/.test(key)) return '…';
    return text
      .replaceAll(/[\w-]+@test\b/g, 'somebody@example.com')
      .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, 'https://usher.example.com')
      .replaceAll(uuid, (id) => this.#idFor(id));
  }

  #idFor(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const next = `00000000-0000-4000-8000-${String(this.#ids.size + 1).padStart(12, '0')}`;
    this.#ids.set(id, next);
    return next;
  }
}

/**
 * Whether two examples have the same fields. Values may differ: `null` and an empty list may stand for any value, and an object with ids as
 * names has others in each run.
 */
export function haveSameFields(one: unknown, other: unknown): boolean {
  if (one === null || other === null || one === undefined || other === undefined)
    return (one === undefined) === (other === undefined);
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === 0 || other.length === 0 || haveSameFields(one[0], other[0]);
  if (typeof one !== 'object' || typeof other !== 'object') return typeof one === typeof other;
  const [names, others] = [namesOf(one), namesOf(other)];
  if (names.join() !== others.join()) return false;
  return names.every((name) =>
    haveSameFields((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}

function namesOf(object: object): string[] {
  return Object.keys(object).filter((name) => !/^[\da-f-]{36}$/.test(name));
}
