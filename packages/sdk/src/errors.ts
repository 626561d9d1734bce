import type { Problem } from './api-types.ts';
import type { ErrorCode } from './error-code.ts';

/** The server refused the request. */
export class UsherError extends Error {
  override readonly name = 'UsherError';
  readonly status: number;
  /** The stable code, such as `invalid_request`. `unknown`: the answer is not from Usher, for example an error page of a proxy. */
  readonly code: ErrorCode | 'unknown';
  /** One detail per invalid field, with its JSON pointer. */
  readonly details: Problem['details'];
  /** Identifies the request in the log of the server. */
  readonly requestId: string | null;
  /** How long to wait before the next attempt. `null`: the server did not say. */
  readonly retryAfterSec: number | null;
  /** The current version of the resource, if the request named another one (412). */
  readonly etag: string | null;

  constructor(problem: Pick<Problem, 'status' | 'error' | 'detail' | 'details'>, headers = new Headers()) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.error as ErrorCode | 'unknown';
    this.details = problem.details;
    this.requestId = headers.get('x-request-id');
    this.retryAfterSec = readRetryAfterSec(headers.get('retry-after'));
    this.etag = headers.get('etag');
  }

  /** The detail about one field, by its name or path: `name`, `capacity_policy/capacity`. */
  field(path: string): string | undefined {
    return this.details.find(({ attribute }) => attribute === `/${path}`)?.detail;
  }
}

/** No answer: the server or the network is down, or the answer took too long. */
export class UsherUnreachable extends Error {
  override readonly name = 'UsherUnreachable';

  constructor(cause: unknown, message = "Can't reach the server. Check your connection and try again.") {
    super(message, { cause });
  }
}

/** The refusal that a response carries. */
export async function errorOf(response: Response): Promise<UsherError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.detail === 'string' && Array.isArray(problem.details)) return new UsherError(problem, headers);
  } catch {
    // Not a problem document. Only the status is known.
  }
  return unknownError(response, `The server answered with status ${status}.`);
}

export function unknownError({ status, headers }: Response, detail: string): UsherError {
  return new UsherError({ status, error: 'unknown', detail, details: [] }, headers);
}

/** `Retry-After` is a number of seconds, or a date if a proxy wrote it. */
function readRetryAfterSec(text: string | null): number | null {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
