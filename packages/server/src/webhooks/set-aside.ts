import type { WebhookId } from '../events/attach-webhooks.ts';
import type { DestinationId } from '../events/destination.ts';
import { inTransaction, type Piece, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';

/**
 * What becomes of deliveries that wait, when their webhook does not go on as it was. Each is one statement, in the
 * transaction of that change. An event that is being written at that moment may still leave a row behind for the webhook as
 * it was: whoever sends looks at the webhook first.
 */

/**
 * As many as a statement has time for. Whoever sends comes upon the rest in its time, and holds, discards or moves it: it
 * looks at the webhook first.
 */
const mostAtOnce = 50_000;

interface SettingAside {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  /** `held`: until somebody recovers them. `discarded`: for ever, which is written into their log. */
  readonly as: 'held' | 'discarded';
}

export async function setAside(sql: Sql, { accountId, webhookId, as }: SettingAside): Promise<void> {
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

interface Move {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly to: DestinationId;
}

/** To be called before the webhook itself is moved: its fresh ones are found among those of its destination. */
export async function moveWaiting(sql: Sql, { accountId, webhookId, to }: Move): Promise<void> {
  await sql`
    WITH waiting AS (${waitingOf(sql, { accountId, webhookId })})
    UPDATE deliveries d
       SET destination_id = ${to}
      FROM waiting
     WHERE d.id = waiting.id`;
}

interface Disabling {
  readonly webhookId: WebhookId;
  readonly because: 'gone' | 'failing' | 'token_ended';
  /** Its `updated_at` when it was called. What was answered at a former address says nothing of the present one. */
  readonly asOf: Date;
}

/**
 * Disables a webhook that is enabled, and holds what waits for it. Whether it was this call that did: of several who find
 * out at once one has.
 */
export async function disableWebhook(pool: Sql, { webhookId, because, asOf }: Disabling): Promise<boolean> {
  return inTransaction(pool, async (sql) => {
    const [disabled] = await sql<{ accountId: AccountId }[]>`
      UPDATE webhooks
         SET enabled = false, disabled_because = ${because}, disabled_at = now(), version = version + 1, updated_at = now()
       WHERE id = ${webhookId} AND enabled AND deleted_at IS NULL AND updated_at = ${asOf}
      RETURNING account_id AS "accountId"`;
    if (disabled === undefined) return false;
    await setAside(sql, { accountId: disabled.accountId, webhookId, as: 'held' });
    return true;
  });
}

interface Waiting {
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly except?: 'held';
}

/**
 * The ids of all that waits, locked in their order, which is the order in which an index finds many by id: so whoever
 * finishes some of them meanwhile and we seldom wait for each other. Served by deliveries_set_aside and, for the fresh ones,
 * by deliveries_fresh.
 */
function waitingOf(sql: Sql, { accountId, webhookId, except }: Waiting): Piece {
  return sql`
    SELECT id
      FROM deliveries
     WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND state <> ${except ?? ''}
       AND (webhook_id = ${webhookId} AND (state <> 'pending' OR due_at IS NOT NULL)
            OR destination_id = (SELECT destination_id FROM webhooks WHERE id = ${webhookId})
               AND state = 'pending' AND due_at IS NULL)
     ORDER BY id
     LIMIT ${mostAtOnce}
       FOR UPDATE`;
}
