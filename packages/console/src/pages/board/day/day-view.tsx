import type { ReactElement } from 'react';
export function DayView({ siteIds }: { readonly siteIds: readonly string[] }): ReactElement {
  return <p>{siteIds.length}</p>;
}
