import type { Problem } from '@usher/sdk/api-types';

/** A refusal by the server. */
export class ProblemError extends Error {
  readonly status: number;
  /** The stable code, such as `invalid_request`. */
  readonly code: string;
  /** One detail per invalid field, with its JSON pointer. */
  readonly details: Problem['details'];
  readonly etag: string | null;

  constructor(problem: Pick<Problem, 'status' | 'error' | 'detail' | 'details'>, etag: string | null = null) {
    super(problem.detail);
    this.name = 'ProblemError';
    this.status = problem.status;
    this.code = problem.error;
    this.details = problem.details;
    this.etag = etag;
  }

  /** The detail about one field, by its name or path: `name`, `capacity_policy/capacity`. */
  field(path: string): string | undefined {
    return this.details.find(({ attribute }) => attribute === `/${path}`)?.detail;
  }
}

/** No answer: the server or the network is down. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("Can't reach the server. Check your connection and try again.", { cause });
    this.name = 'Unreachable';
  }
}

export async function problemOf(response: Response): Promise<ProblemError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const etag = response.headers.get('etag');
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.detail === 'string' && Array.isArray(problem.details)) return new ProblemError(problem, etag);
  } catch {
    // Not a problem document, for example a proxy's error page. Only the status is known.
  }
  return new ProblemError(
    { status, error: 'unknown', detail: `The server answered with status ${status}.`, details: [] },
    etag,
  );
}
