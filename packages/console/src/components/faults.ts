import { UsherError } from '@usher/sdk/errors';

interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** The server's error for the field at a JSON pointer, or for anything below it. */
export type Faults = (pointer: string) => string | undefined;

export function faultsOf(...sources: readonly unknown[]): Faults {
  const violations = sources.flatMap(violationsIn);
  return (pointer) =>
    violations.find(({ attribute }) => attribute === pointer || attribute.startsWith(`${pointer}/`))?.detail;
}

/** Whether every error belongs to a field of the form. */
export function hasOnlyFieldErrors(error: unknown): boolean {
  return error instanceof UsherError && error.status === 422 && error.details.length > 0;
}

function violationsIn(source: unknown): readonly Violation[] {
  if (source instanceof UsherError) return source.details;
  return Array.isArray(source) ? (source as readonly Violation[]) : [];
}
