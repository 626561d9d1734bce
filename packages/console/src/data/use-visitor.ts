import { visitorName } from '../components/visitor-name.ts';
import { useRead } from './use-api.ts';

/** The label of a visitor, also of one who has left the site. */
export function useVisitorName(siteId: string, visitorId: string): string {
  const path = { site_id: siteId, visitor_id: visitorId };
  const visitor = useRead('GET /sites/{site_id}/visitors/{visitor_id}', { path });
  return visitorName(visitor.data?.data, visitorId);
}
