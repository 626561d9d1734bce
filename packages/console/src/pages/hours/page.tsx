import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function HoursPage(): ReactElement {
  return <PageTitle title="Hours" />;
}
