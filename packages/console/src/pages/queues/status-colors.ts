import type { Queue } from '@usher/sdk/api-types';

export const statusColors: Readonly<Record<Queue['self_status'], string>> = {
  opened: 'green',
  closed: 'gray',
  full: 'orange',
  unstaffed: 'yellow',
};
