import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function BoardPage(): ReactElement {
  return <PageTitle title="Live board" />;
}
