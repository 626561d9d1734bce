import type { Problem } from './api-types.ts';

/** What Usher refused, in its own words. */
export class ProblemError extends Error {
  readonly status: number;
  /** The stable code, `validation_failed` for example. */
  readonly code: string;
  /** One for each field that was wrong, by JSON pointer. */
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

  /** What was wrong with one field, by its name or path: `name`, `capacity_policy/capacity`. */
  field(path: string): string | undefined {
    return this.details.find(({ attribute }) => attribute === `/${path}`)?.detail;
  }
}

/** Nobody answered: the server is away, or the network. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The server cannot be reached. Nothing was changed unless it says so later.', { cause });
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
    // A proxy's page, say: what is known then is the status.
  }
  return new ProblemError(
    { status, error: 'unknown', detail: `The server answered ${status}, without a reason.`, details: [] },
    etag,
  );
}
