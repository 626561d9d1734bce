import { ProblemError } from '@usher/client/problem';

interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** What is wrong with the field at a JSON pointer, or with anything below it, in the server's words. */
export type Faults = (pointer: string) => string | undefined;

export function faultsOf(...sources: readonly unknown[]): Faults {
  const violations = sources.flatMap(violationsIn);
  return (pointer) =>
    violations.find(({ attribute }) => attribute === pointer || attribute.startsWith(`${pointer}/`))?.detail;
}

/** Whether all that is wrong can be shown at a field of the form. */
export function isAtFields(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 422 && error.details.length > 0;
}

function violationsIn(source: unknown): readonly Violation[] {
  if (source instanceof ProblemError) return source.details;
  return Array.isArray(source) ? (source as readonly Violation[]) : [];
}
