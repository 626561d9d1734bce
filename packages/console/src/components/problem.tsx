import { Alert } from '@mantine/core';
import type { ReactElement } from 'react';
import { describeError } from './describe-error.ts';

/** Shows an error; nothing without one. */
export function ProblemNote({
  error,
  title,
}: {
  readonly error: unknown;
  readonly title?: string;
}): ReactElement | null {
  if (error === null || error === undefined) return null;
  return (
    <Alert color="red" role="alert" {...(title === undefined ? {} : { title })}>
      {describeError(error)}
    </Alert>
  );
}
