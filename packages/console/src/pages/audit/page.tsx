import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function AuditPage(): ReactElement {
  return <PageTitle title="Audit log" />;
}
