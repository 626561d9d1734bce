import type { Sql } from '../platform/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import { keepSecret, type EventSecret } from './event-secrets.ts';
import { deliveriesOf, deliveriesToRegistered, toldColumns } from './told.ts';
import type { EventFields, EventType } from './catalogue.ts';
import { makeEvent } from './make-event.ts';

/** Whom an event is about, as far as it is about somebody: that decides who may hear of it. */
export interface About {
  readonly siteId?: string | null;
  readonly ticketId?: string | null;
  readonly requestId?: string | null;
  readonly engagementId?: string | null;
  readonly visitorId?: string | null;
  readonly operatorId?: string | null;
  /** Webhooks that were brought along and hear of it; of an engagement those it names, while it goes on. */
  readonly heardBy?: readonly string[];
}

interface NewEvent<T extends EventType> {
  readonly accountId: AccountId;
  readonly type: T;
  readonly about: About;
  readonly fields: EventFields<T>;
  readonly at?: Date;
  /** What the log must not hold. The fields leave it empty. */
  readonly secret?: EventSecret;
}

/**
 * Writes an event that no turn tells, in the transaction of the change it tells of. Where it is about an engagement, that
 * transaction holds the engagement's row.
 */
export async function writeEvent<T extends EventType>(sql: Sql, event: NewEvent<T>): Promise<void> {
  const { accountId, type, about, fields, at = new Date(), secret } = event;
  const id = newId<string>();
  const payload = JSON.stringify(makeEvent(type, { id, at }, fields));
  const { heardBy = [] } = about;
  await sql`
    WITH told AS (
           INSERT INTO events (account_id, id, type, site_id, ticket_id, request_id, engagement_id, visitor_id, operator_id,
                               occurred_at, payload)
           VALUES (${accountId}, ${id}, ${type}, ${about.siteId ?? null}, ${about.ticketId ?? null},
                   ${about.requestId ?? null}, ${about.engagementId ?? null}, ${about.visitorId ?? null},
                   ${about.operatorId ?? null}, ${at}, ${payload}::text::json)
           RETURNING ${toldColumns(sql)})
    ${heardBy.length === 0 ? deliveriesToRegistered(sql) : deliveriesOf(sql, namely(sql, heardBy))}`;
  if (secret !== undefined) await keepSecret(sql, { accountId, eventId: id, secret });
}

/** No message is told this way, so that none has a sender. */
function namely(sql: Sql, heardBy: readonly string[]) {
  return sql`(SELECT ${[...heardBy]}::uuid[] AS heard_by, NULL::text AS sender) AS h ON true`;
}
