import type { Visitor } from '@usher/client/api-types';
import { useRead } from './use-api.ts';

/** What a visitor is called where its name is not known. */
function calledBy(visitor: Pick<Visitor, 'name' | 'email' | 'phone'> | undefined, id: string): string {
  const known = [visitor?.name, visitor?.email, visitor?.phone].find((each) => typeof each === 'string' && each !== '');
  return known ?? `Visitor ${id.slice(0, 6)}`;
}

/** Also one that is not on the site any more has a name of sorts. */
export function useVisitorName(siteId: string, visitorId: string): string {
  const path = { site_id: siteId, visitor_id: visitorId };
  const visitor = useRead('GET /sites/{site_id}/visitors/{visitor_id}', { path });
  return calledBy(visitor.data?.data, visitorId);
}
