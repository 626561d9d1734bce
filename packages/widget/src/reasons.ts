import { ProblemError, Unreachable } from '@usher/client/problem';
import { words } from './words.ts';

/** Why something failed, for visitors. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return words.unreachable;
  const byCode: Readonly<Record<string, string>> = words.problems;
  return (error instanceof ProblemError ? byCode[error.code] : undefined) ?? words.wentWrong;
}
