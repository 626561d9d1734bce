import { Badge } from '@mantine/core';
import type { Queue } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { statusNames } from '../../components/queue-status.ts';

const colors: Readonly<Record<Queue['self_status'], string>> = {
  opened: 'green',
  closed: 'gray',
  full: 'orange',
  unstaffed: 'yellow',
};

/** The status of the queue itself. The text beside it says whether visitors overflow. */
export function StatusBadge({ queue: { self_status } }: { readonly queue: Pick<Queue, 'self_status'> }): ReactElement {
  return (
    <Badge color={colors[self_status]} variant="light" tt="none" miw={84}>
      {statusNames[self_status]}
    </Badge>
  );
}
