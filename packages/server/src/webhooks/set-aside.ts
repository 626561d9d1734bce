import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../events/subscriptions/destination.ts';
import { inTransaction, type SqlFragment, type Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { reportWebhooks } from './report-webhooks.ts';

/**
 * Holds, discards or moves the waiting deliveries of a webhook that was disabled, deleted or given another address. Each is
 * one statement in the transaction of that change. An event that is being written at the same time may still leave a delivery
 * for the old state of the webhook; therefore the dispatcher checks the webhook before it sends.
 */

/** Limit of one statement. The dispatcher holds, discards or moves the rest when it reads them. */
const maxPerStatement = 50_000;

interface SetAsideInput {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  /** `held` deliveries can be recovered. `discarded` ones cannot; that is written to the delivery log. */
  readonly as: 'held' | 'discarded';
}

export async function setAside(sql: Sql, { accountId, webhookId, as }: SetAsideInput): Promise<void> {
  if (as === 'held') await hold(sql, accountId, webhookId);
  else await discard(sql, accountId, webhookId);
}

async function hold(sql: Sql, accountId: AccountId, webhookId: WebhookId): Promise<void> {
  await sql`
    WITH waiting AS (${waitingOf(sql, { accountId, webhookId, except: 'held' })})
    UPDATE deliveries d
       SET state = 'held', due_at = NULL, parked = false
      FROM waiting
     WHERE d.id = waiting.id`;
}

async function discard(sql: Sql, accountId: AccountId, webhookId: WebhookId): Promise<void> {
  await sql`
    WITH waiting AS (${waitingOf(sql, { accountId, webhookId })}),
         gone AS (
           DELETE FROM deliveries d
            USING waiting
            WHERE d.id = waiting.id
           RETURNING d.id, d.account_id, d.webhook_id, d.destination_id, d.engagement_id, d.event_id, d.event_seq, d.event_xid,
                     d.occurred_at, d.event_type, d.created_at, d.body)
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
                              event_xid, occurred_at, event_type, created_at, state, final, body)
    SELECT now(), id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq,
           event_xid, occurred_at, event_type, created_at, 'discarded', true, body
      FROM gone`;
}

interface MoveInput {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly to: DestinationId;
}

/** Call this before the webhook itself is moved: its fresh deliveries are found by its old destination. */
export async function moveWaiting(sql: Sql, { accountId, webhookId, to }: MoveInput): Promise<void> {
  await sql`
    WITH waiting AS (${waitingOf(sql, { accountId, webhookId })})
    UPDATE deliveries d
       SET destination_id = ${to}
      FROM waiting
     WHERE d.id = waiting.id`;
}

interface DisableInput {
  readonly webhookId: WebhookId;
  readonly because: 'gone' | 'failing' | 'token_ended';
  /** `updated_at` of the webhook when it was called: an answer from a former URL must not disable the current one. */
  readonly asOf: Date;
}

/**
 * Disables an enabled webhook, holds its waiting deliveries and appends the event. `false`: another call has disabled it already. Of concurrent
 * calls exactly one returns `true`.
 */
export async function disableWebhook(pool: Sql, { webhookId, because, asOf }: DisableInput): Promise<boolean> {
  return inTransaction(pool, async (sql) => {
    const [disabled] = await sql<{ accountId: AccountId }[]>`
      UPDATE webhooks
         SET enabled = false, disabled_because = ${because}, disabled_at = now(), version = version + 1, updated_at = now(),
             alarmed_at = coalesce(alarmed_at, now())
       WHERE id = ${webhookId} AND enabled AND deleted_at IS NULL AND updated_at = ${asOf}
      RETURNING account_id AS "accountId"`;
    if (disabled === undefined) return false;
    await setAside(sql, { accountId: disabled.accountId, webhookId, as: 'held' });
    await reportWebhooks(sql, 'webhook.disabled', [webhookId]);
    return true;
  });
}

interface WaitingQuery {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly except?: 'held';
}

/**
 * The ids of all waiting deliveries, locked in the order of their ids. Outcomes are written in the same order, which makes
 * deadlocks rare. Served by deliveries_set_aside and, for fresh deliveries, by deliveries_fresh.
 */
function waitingOf(sql: Sql, { accountId, webhookId, except }: WaitingQuery): SqlFragment {
  return sql`
    SELECT id
      FROM deliveries
     WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND state <> ${except ?? ''}
       AND (webhook_id = ${webhookId} AND (state <> 'pending' OR due_at IS NOT NULL)
            OR destination_id = (SELECT destination_id FROM webhooks WHERE id = ${webhookId})
               AND state = 'pending' AND due_at IS NULL)
     ORDER BY id
     LIMIT ${maxPerStatement}
       FOR UPDATE`;
}
