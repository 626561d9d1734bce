import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function QueuesPage(): ReactElement {
  return <PageTitle title="Queues" />;
}
