import type { ReactElement } from 'react';
import { PageTitle } from '../../components/page-title.tsx';

export function WebhooksPage(): ReactElement {
  return <PageTitle title="Webhooks" />;
}
