import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, CallId, EngagementId } from '../../platform/ids.ts';
import type { CallRow } from './call.ts';

/** An engagement shows at most this many calls, the latest ones. */
const maxCalls = 100;

/** The calls of the engagement `e` as JSON, oldest first; times are text. Served by calls_by_engagement. */
export const callsOfEngagement = (sql: Sql) => sql`
  coalesce((SELECT json_agg(json_build_object('id', c.id, 'sub_engagement_id', c.sub_engagement_id,
                                              'started_at', c.started_at, 'connected_at', c.connected_at,
                                              'ended_at', c.ended_at, 'ended_by', c.ended_by) ORDER BY c.started_at)
              FROM (SELECT * FROM calls WHERE engagement_id = e.id ORDER BY started_at DESC LIMIT ${maxCalls}) c), '[]')`;

interface CallIds {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly callId: CallId;
}

export async function findCall(sql: Sql, { accountId, engagementId, callId }: CallIds): Promise<CallRow | null> {
  const [row] = await sql<CallRow[]>`
    SELECT id, sub_engagement_id, started_at, connected_at, ended_at, ended_by
      FROM calls
     WHERE id = ${callId} AND engagement_id = ${engagementId} AND account_id = ${accountId}`;
  return row ?? null;
}

/** Only the first report counts. The caller holds the engagement's lock. */
export async function markConnected(sql: Sql, { accountId, engagementId, callId }: CallIds): Promise<void> {
  await sql`
    UPDATE calls SET connected_at = clock_timestamp()
     WHERE id = ${callId} AND engagement_id = ${engagementId} AND account_id = ${accountId}
       AND connected_at IS NULL AND ended_at IS NULL`;
}
