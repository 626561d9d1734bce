import { errors, type ErrorCode } from '../errors.ts';
import type { ApiOperation } from './document.ts';

/** Errors that any operation can answer. */
const always: readonly ErrorCode[] = [
  'malformed_request',
  'rate_limited',
  'internal_error',
  'too_busy',
  'database_unavailable',
  'insufficient_storage',
];
const guarded: readonly ErrorCode[] = ['unauthenticated', 'forbidden', 'account_disabled'];
const withBody: readonly ErrorCode[] = [
  'malformed_json',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'invalid_request',
];

/** What single operations can answer beside what follows from their parts. Tests fail if an operation answers anything else. */
const own: Readonly<Record<string, readonly ErrorCode[]>> = {};

/** The codes of the errors that an operation can answer, ordered by status. */
export function errorCodesOf(method: string, path: string, operation: ApiOperation): readonly ErrorCode[] {
  const { security = [], parameters = [], requestBody } = operation;
  const inPath = parameters.some((parameter) => parameter.in === 'path');
  const codes = new Set<ErrorCode>([
    ...always,
    ...(security.length === 0 ? [] : guarded),
    ...(requestBody === undefined ? [] : withBody),
    ...(parameters.length === 0 ? [] : (['invalid_request'] as const)),
    ...(inPath ? (['not_found'] as const) : []),
    ...(method === 'POST' && security.length > 0 ? (['idempotency_key_reused'] as const) : []),
    ...(own[`${method} ${path}`] ?? []),
  ]);
  const order = Object.keys(errors);
  return [...codes].toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
}
