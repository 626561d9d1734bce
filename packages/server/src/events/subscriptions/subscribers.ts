import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';
import type { EventType } from '../catalogue.ts';

/** SQL conditions that decide which webhooks are sent an event. In each of them `w` is the webhook. */

/** D8.3: this event has two names. The log stores the first; webhooks may subscribe either. */
const status: EventType = 'engagement.chat.message_status';
export const otherStatus: EventType = 'engagement.chat.message.status';

/** The types that the log stores for the types that a webhook subscribes. */
export function loggedTypes(events: readonly EventType[]): EventType[] {
  return [...new Set(events.map((type) => (type === otherStatus ? status : type)))];
}

/** The registered webhook covers the site. Triggers update `covers` when roles change (0024_webhook_coverage.sql). */
export function isCovered(sql: Sql, siteId: SqlFragment): SqlFragment {
  return sql`(w.covers IS NULL OR ${siteId} = ANY(w.covers))`;
}

/**
 * The event `e` is filtered: a registered webhook of the account that subscribes to it has a filter. Served by webhooks_filtered.
 */
export const isFiltered = fragment(
  (sql) => sql`EXISTS (SELECT 1 FROM webhooks w
                         WHERE w.account_id = e.account_id AND w.side IS NULL AND w.deleted_at IS NULL
                           AND w.filter_path IS NOT NULL AND e.type = ANY(w.hears))`,
);

/**
 * The event `t` passes the filter of the webhook, if it has one. `t.fields` is its payload as `jsonb`, converted once for all filters
 * and only if it is filtered. The conversion cannot fail: NUL and unpaired surrogates, which `jsonb` refuses, are refused in requests.
 * `jsonb_path_match` is null where `jsonpath` reports an error.
 */
export const passesFilter = fragment(
  (sql) => sql`
           CASE WHEN w.filter_path IS NULL THEN true
                ELSE coalesce(jsonb_path_match(t.fields, w.filter_path, w.filter_values, true), false) END`,
);

/**
 * Whoever attached the webhook may see the site. A visitor may always see their own engagement; an operator may while they
 * have a role on the site.
 */
export function attacherSeesSite(sql: Sql, siteId: SqlFragment): SqlFragment {
  return sql`(w.attached_by IS NULL
            OR EXISTS (SELECT 1
                         FROM operator_assignments a
                         JOIN operators o ON o.id = a.operator_id AND o.enabled
                        WHERE a.operator_id = w.attached_by AND a.site_id = ${siteId}))`;
}

/** The webhook, registered or attached, may be sent events of the site now. */
export function reachesSite(sql: Sql, siteId: () => SqlFragment): SqlFragment {
  return sql`${isCovered(sql, siteId())} AND ${attacherSeesSite(sql, siteId())}`;
}

/** An enabled webhook is sent events of the type in the engagement `e`. Events that no one else reads are stored only then. */
export function hasSubscriber(sql: Sql, type: EventType): SqlFragment {
  return sql`EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.account_id = e.account_id AND w.side IS NULL AND w.deleted_at IS NULL AND w.enabled
                AND ${type} = ANY(w.hears) AND ${isCovered(sql, sql`e.site_id`)})
           OR EXISTS (
             SELECT 1 FROM webhooks w
              WHERE w.id = ANY(e.heard_by) AND w.enabled AND ${type} = ANY(w.hears)
                AND ${attacherSeesSite(sql, sql`e.site_id`)})`;
}
