import { visitorName } from '../components/visitor-name.ts';
import { useRead } from './use-api.ts';

/** Also one that is not on the site any more has a name of sorts. */
export function useVisitorName(siteId: string, visitorId: string): string {
  const path = { site_id: siteId, visitor_id: visitorId };
  const visitor = useRead('GET /sites/{site_id}/visitors/{visitor_id}', { path });
  return visitorName(visitor.data?.data, visitorId);
}
