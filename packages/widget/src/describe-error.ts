import { ProblemError, Unreachable } from '@usher/client/problem';
import { texts } from './texts.ts';

/** Says to visitors why a request failed. */
export function describeError(error: unknown): string {
  if (error instanceof Unreachable) return texts.unreachable;
  const byCode: Readonly<Record<string, string>> = texts.errors;
  return (error instanceof ProblemError ? byCode[error.code] : undefined) ?? texts.unknownError;
}
