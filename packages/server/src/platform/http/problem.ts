import type { FastifyError } from 'fastify';
import Type from 'typebox';
import { isAccountMoving, isDatabaseUnavailable, isDiskFull, isReadOnly } from '../database/database.ts';
import { errors, Refusal, type ErrorCode } from '../errors.ts';

/** D7.3: the body of every error is RFC 9457 with the additional members that existing clients read. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ description: 'URL of the documentation of this error' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong and what to do' }),
    error: Type.String({ description: 'The stable code of this error' }),
    message: Type.String({ description: 'The same as detail' }),
    details: Type.Array(
      Type.Object({
        attribute: Type.String({ description: 'JSON pointer to the invalid value' }),
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

/** Maps any error to the response for the caller. An error of unknown origin is an internal error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof Error && error.message === 'aborted') {
    return new Refusal('malformed_request', 'The connection closed before the whole request arrived.');
  }
  if (isDiskFull(error)) return diskFull();
  if (isReadOnly(error)) return databaseReadOnly();
  if (isAccountMoving(error)) return accountMoving();
  if (isDatabaseUnavailable(error)) return databaseUnavailable();
  if (isFastifyError(error)) return refusalOfFramework(error);
  if (isUnmetCondition(error))
    return new Refusal('precondition_failed', 'The file is not the version that the headers of the request name.');
  return new Refusal('internal_error', 'An internal error occurred. The server log has details under this request_id.');
}

export function databaseUnavailable(): Refusal {
  return later('database_unavailable', 'The database does not respond.');
}

export function databaseReadOnly(): Refusal {
  return later('database_unavailable', 'The database is read-only right now.');
}

function accountMoving(): Refusal {
  return later('account_moving', 'The account is being moved to another installation.');
}

/** The request had no effect, or its effect is unknown. */
function later(code: ErrorCode, what: string): Refusal {
  return new Refusal(code, `${what} Try again in a few seconds.`, { headers: { 'retry-after': '2' } });
}

export function diskFull(): Refusal {
  return new Refusal(
    'insufficient_storage',
    'The disk of the database is full, so nothing can be changed. Free space on that disk, then send the request again.',
    { headers: { 'retry-after': '10' } },
  );
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

/** @fastify/static evaluates `If-Match` and `If-Unmodified-Since` of files. */
function isUnmetCondition(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 412;
}

const frameworkCodes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body must not exceed 1 MiB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_request', 'The length of the body differs from Content-Length.'],
  FST_ERR_BAD_URL: ['malformed_request', 'The path contains an invalid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'No resource has this path.'],
};

function refusalOfFramework(error: FastifyError): Refusal {
  const mapped = frameworkCodes[error.code];
  if (mapped !== undefined) return new Refusal(mapped[0], mapped[1]);
  if (error.statusCode !== undefined && error.statusCode < 500) return new Refusal('malformed_request', error.message);
  return new Refusal('internal_error', 'An internal error occurred. The server log has details under this request_id.');
}
