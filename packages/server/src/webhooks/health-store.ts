import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId } from '../platform/ids.ts';
import type { Outage } from './outage.ts';

/** A registered webhook, for an event about it. */
export interface ReportedWebhook {
  readonly id: WebhookId;
  readonly account_id: AccountId;
  readonly url: string;
  readonly description: string | null;
  readonly registered_by: OperatorId | null;
  readonly failing_since: Date | null;
  readonly disabled_because: 'asked' | 'gone' | 'failing' | 'token_ended' | null;
  /** The sites whose super_managers see the webhook. */
  readonly site_ids: readonly SiteId[];
}

/** Attached webhooks are left out: they belong to one engagement, and nobody looks after them. */
export async function readReported(sql: Sql, ids: readonly WebhookId[]): Promise<ReportedWebhook[]> {
  return sql<ReportedWebhook[]>`
    SELECT id, account_id, url, description, registered_by, failing_since, disabled_because,
           coalesce(webhook_reach(site_ids, has_covered),
                    ARRAY(SELECT s.id FROM sites s WHERE s.account_id = w.account_id ORDER BY s.created_at, s.id)) AS site_ids
      FROM webhooks w
     WHERE id = ANY(${[...ids]}::uuid[]) AND side IS NULL AND deleted_at IS NULL
     ORDER BY id`;
}

/** Stores outages; `null`: the webhook works. Another process may have stored an earlier start. */
export async function writeOutages(sql: Sql, outages: readonly (readonly [WebhookId, Outage | null])[]): Promise<void> {
  const instant = (at: number | null | undefined) => (typeof at === 'number' ? new Date(at).toISOString() : null);
  const rows = outages.map(([id, outage]) => ({
    id,
    since: instant(outage?.since),
    failed_at: instant(outage?.failedAt),
    succeeded_at: instant(outage?.succeededAt),
  }));
  await sql`
    WITH noted AS (
           SELECT n.*
             FROM webhooks w
             JOIN json_to_recordset(${JSON.stringify(rows)}::text::json)
                    AS n (id uuid, since timestamptz, failed_at timestamptz, succeeded_at timestamptz) ON n.id = w.id
            ORDER BY w.id
              FOR NO KEY UPDATE OF w)
    UPDATE webhooks w
       SET failing_since = CASE WHEN noted.since IS NOT NULL THEN coalesce(w.failing_since, noted.since) END,
           failed_at = noted.failed_at, succeeded_at = noted.succeeded_at
      FROM noted
     WHERE w.id = noted.id`;
}

/**
 * D8.13: ends the outages of webhooks that have been recovering since `before`, `limit` at most. Time alone ends them: nothing may be
 * due to a quiet webhook. Returns those whose failure was reported. Served by webhooks_recovering.
 */
export async function endOutages(
  sql: Sql,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<WebhookId[]> {
  const rows = await sql<{ id: WebhookId; wasAlarmed: boolean }[]>`
    WITH steady AS (
           SELECT id, alarmed_at IS NOT NULL AND enabled AS was_alarmed
             FROM webhooks
            WHERE failing_since IS NOT NULL AND succeeded_at <= ${before}
              AND succeeded_at > greatest(failed_at, failing_since) AND deleted_at IS NULL
            ORDER BY id
            LIMIT ${limit}
              FOR NO KEY UPDATE)
    UPDATE webhooks w
       SET failing_since = NULL, alarmed_at = CASE WHEN NOT steady.was_alarmed THEN w.alarmed_at END
      FROM steady
     WHERE w.id = steady.id
    RETURNING w.id, steady.was_alarmed AS "wasAlarmed"`;
  return rows.filter(({ wasAlarmed }) => wasAlarmed).map(({ id }) => id);
}

/**
 * Marks the webhooks that have delivered nothing since `before` and are not marked yet, `limit` at most. Of concurrent calls one marks
 * each webhook. Rows are locked in the order of ids, as by `WebhookHealth`. Served by webhooks_failing.
 */
export async function markFailing(
  sql: Sql,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<WebhookId[]> {
  const rows = await sql<{ id: WebhookId }[]>`
    WITH due AS (
           SELECT id FROM webhooks
            WHERE failing_since <= ${before} AND (succeeded_at IS NULL OR succeeded_at <= ${before})
              AND alarmed_at IS NULL AND side IS NULL AND deleted_at IS NULL AND enabled
            ORDER BY id
            LIMIT ${limit}
              FOR NO KEY UPDATE)
    UPDATE webhooks w SET alarmed_at = now() FROM due WHERE w.id = due.id
    RETURNING w.id`;
  return rows.map(({ id }) => id);
}

/** Clears the marks of webhooks that have delivered something again; returns those that had one. */
export async function clearAlarms(sql: Sql, ids: readonly WebhookId[]): Promise<WebhookId[]> {
  const rows = await sql<{ id: WebhookId }[]>`
    UPDATE webhooks SET alarmed_at = NULL
     WHERE id = ANY(${[...ids]}::uuid[]) AND alarmed_at IS NOT NULL AND enabled
    RETURNING id`;
  return rows.map(({ id }) => id);
}
