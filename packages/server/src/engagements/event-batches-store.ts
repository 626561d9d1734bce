import { appendEvents } from '../events/append.ts';
import { payloadSql } from '../events/payload-sql.ts';
import { piece, type Sql } from '../platform/database.ts';
import type { EngagementId, Id } from '../platform/ids.ts';
import type { Party } from '../routing/board/rules/answering.ts';
import { lockTogether, partyColumns } from './taking-part.ts';
import type { EngagementWrite } from './write-batches.ts';

/** Statements that append events to many engagements at once, where nothing but the event is stored. */

/** Appends an event for each row of the CTE `occurred`. */
function appending(payload: string) {
  return piece((sql) =>
    appendEvents(
      sql,
      sql.unsafe(`
           SELECT account_id, event_id AS id, type, site_id, ticket_id, request_id, engagement_id, visitor_id, operator_id,
                  at AS occurred_at, ${payload} AS payload, heard_by, NULL AS sender
             FROM occurred`),
      { hasAttached: true },
    ),
  );
}

/** Somebody types, or has stopped. */
export interface Indication extends EngagementWrite {
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

const appendTyping = appending(
  `CASE party WHEN 'visitor' THEN ${typingPayload('visitor')} ELSE ${typingPayload('operator')} END`,
);

/**
 * Appends typing indicators, at most one per engagement, and returns the engagements of those that were appended. The clock is taken
 * under the engagement's lock, so that clocks grow in the order of the log.
 */
export async function appendIndications(
  sql: Sql,
  indications: readonly Indication[],
): Promise<ReadonlyMap<EngagementId, true>> {
  const rows = await sql<{ id: EngagementId }[]>`
    WITH ${lockTogether(sql, indications.map(indicationRow), indicationColumns(sql))},
         occurred AS (
           SELECT *, 'engagement.chat.typing_indicator.' || party AS type, gen_random_uuid() AS event_id,
                  nextval('typing_clock') AS clock
             FROM engaged),
         ${appendTyping(sql)}
    SELECT engagement_id AS id FROM occurred`;
  return new Map(rows.map(({ id }) => [id, true]));
}

const indicationColumns = piece((sql) => sql`typing boolean, at timestamptz`);

function indicationRow({ accountId, engagementId, by, typing, at }: Indication) {
  return { account_id: accountId, engagement_id: engagementId, ...partyColumns(by), typing, at };
}

export interface VisitorEvent extends EngagementWrite {
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

const appendVisitorEvents = appending(
  payloadSql(
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
);

/** Appends visitor events, at most one per engagement, and returns where those were recorded that were appended. */
export async function appendVisitorEventBatch(
  sql: Sql,
  events: readonly VisitorEvent[],
): Promise<ReadonlyMap<EngagementId, RecordedIn>> {
  const rows = await sql<(RecordedIn & { engagementId: EngagementId })[]>`
    WITH ${lockTogether(sql, events.map(visitorEventRow), visitorEventColumns(sql))},
         occurred AS (SELECT *, 'engagement.event' AS type, gen_random_uuid() AS event_id FROM engaged),
         ${appendVisitorEvents(sql)}
    SELECT engagement_id AS "engagementId", sub_engagement_id AS "subEngagementId", operator_id AS "operatorId",
           site_id AS "siteId"
      FROM occurred`;
  return new Map(rows.map(({ engagementId, ...recorded }) => [engagementId, recorded]));
}

const visitorEventColumns = piece((sql) => sql`id uuid, content text, at timestamptz`);

function visitorEventRow({ accountId, engagementId, by, id, content, at }: VisitorEvent) {
  return { account_id: accountId, engagement_id: engagementId, ...partyColumns(by), id, content, at };
}
