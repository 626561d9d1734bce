import type { Piece, Sql } from '../platform/database.ts';
import type { EngagementId, OperatorId, RequestId, TicketId, VisitorId } from '../platform/ids.ts';
import { act } from './act.ts';
import type { Action } from './action.ts';
import type { SampleClient } from './client.ts';
import { stoppedReason } from './plan.ts';
import type { SampleRow } from './sample-data.ts';
import { players, visitorMark } from './scene.ts';

/** Which of what goes on: that of the visitors and operators we speak for; or all that has to do with the sample. */
export type Extent = 'ours' | 'all';

interface UnderWay {
  readonly what: 'ticket' | 'request' | 'engagement';
  readonly id: string;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId | null;
  /** Of a request: who asks. */
  readonly origin: 'visitor' | 'operator' | null;
  /** The visitor is of the sample site; and the operator of the sample. Nobody else's name is used. */
  readonly ofSite: boolean;
  readonly isPlayer: boolean;
}

/** Nothing new comes between looking and ending but from users; so many times they may. */
const mostPasses = 20;

/** Ends what goes on, as those who take part in it would. False: there is something left. */
export async function clear(sql: Sql, sample: SampleRow, client: SampleClient, extent: Extent): Promise<boolean> {
  const [host] = sample.operator_ids;
  if (host === undefined) throw new Error('sample data without operators');
  const acting = { client, siteId: sample.site_id, host: { kind: 'operator', id: host } } as const;
  for (const [index, id] of sample.operator_ids.entries()) await act(goHome(id, index), acting);
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const found = await underWay(sql, sample, extent);
    if (found.length === 0) return true;
    for (const each of found) await act(endOf(each), acting);
  }
  return false;
}

function goHome(operatorId: OperatorId, index: number): Action {
  const media = players[index]?.media ?? ['text'];
  return { key: '', do: 'be present', operatorId, available: false, media, reason: stoppedReason };
}

function endOf({ what, id, visitorId, operatorId, origin, ofSite, isPlayer }: UnderWay): Action {
  const key = '';
  const visitor = { kind: 'visitor', id: visitorId } as const;
  const as = ofSite || operatorId === null || !isPlayer ? visitor : ({ kind: 'operator', id: operatorId } as const);
  switch (what) {
    case 'ticket':
      return { key, do: 'give up', ticketId: id as TicketId, visitorId };
    case 'request': {
      const answer = origin === as.kind ? 'cancel' : 'decline';
      return { key, do: 'answer', requestId: id as RequestId, as, answer, transfer: false };
    }
    case 'engagement':
      return { key, do: 'end', engagementId: id as EngagementId, as };
  }
}

/** Offers of tickets and transfers go with what they are about. */
export async function underWay(sql: Sql, sample: SampleRow, extent: Extent): Promise<UnderWay[]> {
  const { account_id, site_id, operator_ids } = sample;
  const isOurs = extent === 'all' ? sql`true` : sql`coalesce(starts_with(v.external_id, ${visitorMark}), false)`;
  // A sample operator that a user has put to work elsewhere goes on there, until it is removed.
  const here = (site: Piece): Piece => (extent === 'all' ? sql`true` : sql`${site} = ${site_id}`);
  return sql<UnderWay[]>`
    SELECT 'ticket' AS what, t.id, t.visitor_id AS "visitorId", NULL::uuid AS "operatorId", NULL AS origin, true AS "ofSite", false AS "isPlayer"
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE t.account_id = ${account_id} AND t.ended_at IS NULL AND t.kind = 'visitor'
       AND t.site_id = ${site_id} AND ${isOurs}
    UNION ALL
    SELECT 'request', r.id, r.visitor_id, r.operator_id, r.origin, v.site_id = ${site_id}, r.operator_id = ANY(${operator_ids}::uuid[])
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE r.account_id = ${account_id} AND r.kind = 'direct' AND r.state = 'pending'
       AND r.created_at > now() - interval '73 hours'
       AND (v.site_id = ${site_id} AND ${isOurs} OR r.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`r.site_id`)})
    UNION ALL
    SELECT 'engagement', e.id, e.visitor_id, e.operator_id, NULL, v.site_id = ${site_id}, e.operator_id = ANY(${operator_ids}::uuid[])
      FROM active_engagements a
      JOIN engagements e ON e.id = a.engagement_id
      JOIN visitors v ON v.id = e.visitor_id
     WHERE a.account_id = ${account_id}
       AND (v.site_id = ${site_id} AND ${isOurs} OR e.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`e.site_id`)}
            OR ${extent === 'all'} AND (e.site_id = ${site_id} OR e.asked_on_site_id = ${site_id}))`;
}
