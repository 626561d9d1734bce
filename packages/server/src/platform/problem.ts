import type { FastifyError } from 'fastify';
import Type from 'typebox';
import { isDatabaseUnavailable, isDiskFull, isReadOnly } from './database.ts';
import { errors, Refusal, type ErrorCode } from './errors.ts';

/** The body of every error: RFC 9457, and the members that clients of this interface family read. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ description: 'Address of the description of this error' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What was wrong and what to do' }),
    error: Type.String({ description: 'The stable code of this error' }),
    message: Type.String({ description: 'The same as detail' }),
    details: Type.Array(
      Type.Object({
        attribute: Type.String({ description: 'JSON pointer to what was wrong' }),
        detail: Type.String(),
      }),
    ),
    request_id: Type.String(),
  },
  { title: 'Problem' },
);
export type Problem = Type.Static<typeof problemSchema>;

export const problemType = 'application/problem+json; charset=utf-8';

export function problemOf(refusal: Refusal, requestId: string): Problem {
  const { status, title } = errors[refusal.code];
  return {
    type: `/docs#error-${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    error: refusal.code,
    message: refusal.message,
    details: [...refusal.details],
    request_id: requestId,
  };
}

/** What an error of any origin means to the caller. Whatever is not known to be the caller's or the database's is ours. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof Error && error.message === 'aborted') {
    return new Refusal('malformed_request', 'The request was cut off before it was whole.');
  }
  if (isDiskFull(error)) return diskFull();
  if (isReadOnly(error)) return later('database_unavailable', 'The database takes no changes at the moment.');
  if (isDatabaseUnavailable(error)) return databaseSilent();
  if (isFastifyError(error)) return refusalOfFramework(error);
  return new Refusal('internal_error', 'Something went wrong inside Usher. The log has it under this request_id.');
}

export function databaseSilent(): Refusal {
  return later('database_unavailable', 'The database does not answer at the moment.');
}

/** Nothing of the request was done, or nobody knows whether it was. */
function later(code: ErrorCode, what: string): Refusal {
  return new Refusal(code, `${what} Try again in a few seconds.`, { headers: { 'retry-after': '2' } });
}

export function diskFull(): Refusal {
  return new Refusal(
    'insufficient_storage',
    'The disk of the database is full, so nothing can be changed. Whoever runs Usher must make room on it; then the same request succeeds.',
    { headers: { 'retry-after': '10' } },
  );
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

const frameworkCodes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body may have 1 MiB at most.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_BAD_URL: ['malformed_request', 'The path has a percent-escape that does not decode.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is nothing at this address.'],
};

function refusalOfFramework(error: FastifyError): Refusal {
  const known = frameworkCodes[error.code];
  if (known !== undefined) return new Refusal(known[0], known[1]);
  if (error.statusCode !== undefined && error.statusCode < 500) return new Refusal('malformed_request', error.message);
  return new Refusal('internal_error', 'Something went wrong inside Usher. The log has it under this request_id.');
}
