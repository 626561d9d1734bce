import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function PeoplePage(): ReactElement {
  return <PageTitle title="People" />;
}
