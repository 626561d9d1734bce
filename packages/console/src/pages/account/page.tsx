import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function AccountPage(): ReactElement {
  return <PageTitle title="Account" />;
}
