import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function SitesPage(): ReactElement {
  return <PageTitle title="Sites" />;
}
