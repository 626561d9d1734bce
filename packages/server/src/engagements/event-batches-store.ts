import { payloadSql } from '../events/payload-sql.ts';
import { fragment, type Sql } from '../platform/database/database.ts';
import type { EngagementId, Id } from '../platform/ids.ts';
import type { Party } from '../identity/party.ts';
import { lockTogether, type AuthoredWrite } from './taking-part.ts';
import { appendEventOfEach } from './writes.ts';

/** Statements that append events to many engagements at once, where nothing but the event is stored. */

/** Somebody types, or has stopped. */
export interface Indication extends AuthoredWrite {
  readonly by: Party;
  readonly typing: boolean;
  readonly at: Date;
}

function typingPayload(side: Party['kind']): string {
  return payloadSql(
    `engagement.chat.typing_indicator.${side}`,
    { id: 'event_id', at: 'at' },
    {
      typing_indicator: {
        engagement_id: 'engagement_id',
        sub_engagement_id: 'sub_engagement_id',
        sender: { id: 'party_id' },
        typing: 'typing',
        clock: 'clock',
      },
    },
  );
}

const appendTyping = appendEventOfEach('typed', {
  type: "'engagement.chat.typing_indicator.' || party",
  at: 'at',
  payload: `CASE party WHEN 'visitor' THEN ${typingPayload('visitor')} ELSE ${typingPayload('operator')} END`,
});

const indicationColumns = fragment((sql) => sql`typing boolean, at timestamptz`);

/**
 * Appends typing indicators, at most one per engagement, and returns the engagements of those that were appended. The clock is taken
 * under the engagement's lock, so that clocks grow in the order of the log.
 */
export async function appendIndications(
  sql: Sql,
  indications: readonly Indication[],
): Promise<ReadonlyMap<EngagementId, true>> {
  const rows = await sql<{ id: EngagementId }[]>`
    WITH ${lockTogether(sql, indications, ({ typing, at }) => ({ typing, at }), indicationColumns(sql))},
         typed AS (SELECT *, nextval('typing_clock') AS clock FROM engaged),
         ${appendTyping(sql)}
    SELECT engagement_id AS id FROM typed`;
  return new Map(rows.map(({ id }) => [id, true]));
}

export interface VisitorEvent extends AuthoredWrite {
  readonly id: Id<'visitor_event'>;
  readonly by: Party;
  readonly content: string;
  readonly at: Date;
}

/** The sub-engagement in which the event was recorded. */
export interface RecordedIn {
  readonly subEngagementId: string;
  readonly operatorId: string;
  readonly siteId: string;
}

const appendVisitorEvents = appendEventOfEach('engaged', {
  type: "'engagement.event'",
  at: 'at',
  payload: payloadSql(
    'engagement.event',
    { id: 'event_id', at: 'at' },
    {
      message: {
        timestamp: 'at',
        id: 'id',
        engagement_id: 'engagement_id',
        sub_engagement: { id: 'sub_engagement_id', operator_id: 'operator_id', site_id: 'site_id' },
        sender: { id: 'party_id' },
        content: 'content',
      },
    },
  ),
});

const visitorEventColumns = fragment((sql) => sql`id uuid, content text, at timestamptz`);

/** Appends visitor events, at most one per engagement, and returns where those were recorded that were appended. */
export async function appendVisitorEventBatch(
  sql: Sql,
  events: readonly VisitorEvent[],
): Promise<ReadonlyMap<EngagementId, RecordedIn>> {
  const rows = await sql<(RecordedIn & { engagementId: EngagementId })[]>`
    WITH ${lockTogether(sql, events, ({ id, content, at }) => ({ id, content, at }), visitorEventColumns(sql))},
         ${appendVisitorEvents(sql)}
    SELECT engagement_id AS "engagementId", sub_engagement_id AS "subEngagementId", operator_id AS "operatorId",
           site_id AS "siteId"
      FROM engaged`;
  return new Map(rows.map(({ engagementId, ...recorded }) => [engagementId, recorded]));
}
