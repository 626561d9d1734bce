import type { WebhookId } from '../events/attach-webhooks.ts';
import type { Sql } from '../platform/database.ts';
import type { AccountId, OperatorId, SiteId } from '../platform/ids.ts';

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

/**
 * Marks the webhooks that have been failing since `before` and are not marked yet, `limit` at most. Of concurrent calls one marks
 * each webhook. Rows are locked in the order of ids, as by `WebhookHealth`. Served by webhooks_failing.
 */
export async function markFailing(
  sql: Sql,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<WebhookId[]> {
  const rows = await sql<{ id: WebhookId }[]>`
    WITH due AS (
           SELECT id FROM webhooks
            WHERE failing_since <= ${before} AND alarmed_at IS NULL AND side IS NULL AND deleted_at IS NULL AND enabled
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
