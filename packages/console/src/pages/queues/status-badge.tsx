import { Badge } from '@mantine/core';
import type { Queue } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import { statusColors, statusNames } from './status-words.ts';

export function StatusBadge({ status }: { readonly status: Queue['status'] }): ReactElement {
  return (
    <Badge color={statusColors[status]} variant="light" tt="none" miw={84}>
      {statusNames[status]}
    </Badge>
  );
}
