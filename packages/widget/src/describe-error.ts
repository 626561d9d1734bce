import { UsherError, UsherUnreachable } from '@usher/sdk/errors';
import { texts } from './texts.ts';

/** Says to visitors why a request failed. */
export function describeError(error: unknown): string {
  if (error instanceof UsherUnreachable) return texts.unreachable;
  const byCode: Readonly<Record<string, string>> = texts.errors;
  return (error instanceof UsherError ? byCode[error.code] : undefined) ?? texts.unknownError;
}
