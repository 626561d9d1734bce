import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function DeskPage(): ReactElement {
  return <PageTitle title="Desk" />;
}
