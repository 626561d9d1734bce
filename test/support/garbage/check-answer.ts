import { errors } from '../../../packages/server/src/platform/errors.ts';
import type { Json } from '../server.ts';
import type { GarbageCaller } from './callers.ts';
import type { PackedRequest } from './draft.ts';
import type { Owner, Secrets } from './secrets.ts';
import type { WireMessage } from './wire.ts';

/** Fields that the valid request does not have, and needs after another one was accepted. */
const laterRequired: ReadonlySet<string> = new Set(['PUT /operator_authentication/password /current_password']);

/** A request of the campaign and how it came about. */
export interface GarbageRequest extends PackedRequest {
  /** Such as `POST /queues`. */
  readonly operation: string;
  readonly caller: GarbageCaller;
  /** What was changed in a valid request. */
  readonly changes: readonly string[];
  /** The only field that was changed, as a JSON pointer; `null` if that is not known. */
  readonly field: string | null;
  /** The statuses that openapi.json declares, if the request still reaches the operation. */
  readonly declared: ReadonlySet<number> | null;
  /** Bytes that are sent instead, on a socket of their own. */
  readonly wire: WireMessage | null;
}

/** An answer, or one of several answers to bytes on a socket. */
export interface GarbageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** What came back for a request. */
export interface Outcome {
  /** Empty if the server closed the socket without an answer. */
  readonly answers: readonly GarbageAnswer[];
  readonly tookMs: number;
  /** Why there is no answer. */
  readonly failure: string | null;
}

/** Whether every answer refuses. A message without an end was refused if the server has closed the socket. */
export function isRefused({ answers }: Outcome): boolean {
  return answers.every(({ status }) => status >= 400);
}

/** What HTTP itself may be answered by, whatever the operation declares. */
const ofHttp: ReadonlySet<number> = new Set([400, 408, 417, 431]);
const internals =
  /node_modules|\n\s+at |packages\/server|PostgresError|syntax error at or near|violates [\w-]+ constraint|\[object Object\]/;
/** A body that is this large may still be on its way when the answer is there, and the socket is closed under it. */
const largeBody = 64 * 1024;

/** What is wrong with an answer; empty if it keeps every promise. */
export function faultsOf(request: GarbageRequest, { answers, failure }: Outcome, secrets: Secrets): string[] {
  if (failure !== null) {
    const isInterrupted = request.wire === null && (request.body?.length ?? 0) > largeBody;
    return isInterrupted ? [] : [`there is no answer: ${failure}`];
  }
  return answers.flatMap((answer) => {
    const { status, text } = answer;
    const faults: string[] = [];
    if (status >= 500) faults.push(`the status is ${status}`);
    const isDeclared = request.declared === null || ofHttp.has(status) || request.declared.has(status);
    if (!isDeclared) faults.push(`openapi.json does not declare the status ${status}`);
    if (status >= 400) faults.push(...problemFaults(request, answer));
    const others = foreignOwners(request, secrets.foundIn(text));
    if (others.size > 0) faults.push(`the answer has data of: ${[...others].join(', ')}`);
    if (status >= 400 && internals.test(text)) faults.push('the answer shows internals of the server');
    return faults;
  });
}

/** Whose data is in an answer although the caller may not read it and has not sent it. */
function foreignOwners(
  { operation, caller, ...request }: GarbageRequest,
  found: ReadonlyMap<string, Owner>,
): Set<Owner> {
  // Metrics are for those who run the service, of all accounts: docs/guide/watching.md.
  const foreign = [...found].filter(([, owner]) => !caller.mayRead.has(owner) && operation !== 'GET /metrics');
  if (foreign.length === 0) return new Set();
  const body = (request.wire?.bytes ?? request.body ?? '').toString();
  const sent = `${request.target} ${request.headers.join(' ')} ${body}`.toLowerCase().replaceAll('%2d', '-');
  return new Set(foreign.filter(([data]) => !sent.includes(data.toLowerCase())).map(([, owner]) => owner));
}

/** D7.3: the body of every refusal says what is wrong. */
function problemFaults(
  { method, operation, field, declared, wire }: GarbageRequest,
  { status, contentType, text }: GarbageAnswer,
): string[] {
  // The error of a JSON-RPC message is JSON-RPC.
  if (
    method === 'HEAD' ||
    (wire !== null && text === '') ||
    (operation === 'POST /mcp' && contentType.startsWith('application/json'))
  )
    return [];
  if (!contentType.startsWith('application/problem+json')) return [`a refusal is ${contentType || 'of no type'}`];
  let problem: Json;
  try {
    problem = JSON.parse(text);
  } catch {
    return ['the problem is not JSON'];
  }
  const faults: string[] = [];
  const known = Object.hasOwn(errors, problem.error) ? errors[problem.error as keyof typeof errors] : null;
  if (known?.status !== status || problem.status !== status)
    faults.push(`the error ${problem.error} has the status ${status}`);
  if (typeof problem.detail !== 'string' || problem.detail.length < 10)
    faults.push('the problem does not say what is wrong');
  if (problem.error !== 'invalid_request') return faults;
  const details: Json[] = problem.details;
  if (details.length === 0) faults.push('the problem names no violation');
  const [, top = ''] = field?.split('/') ?? [];
  const isNamed = details.some(
    ({ attribute, detail }) =>
      attribute === '' || `${attribute} ${detail}`.includes(top) || laterRequired.has(`${operation} ${attribute}`),
  );
  if (field !== null && declared !== null && !isNamed)
    faults.push(`the violation of ${field} is reported for ${details.map(({ attribute }) => attribute).join(', ')}`);
  return faults;
}
