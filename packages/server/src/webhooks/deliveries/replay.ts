import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { lockUsableWebhook } from '../coverage.ts';
import { createdAtOf, type DeliveryId, type DeliveryRow } from './delivery.ts';
import { eventIsKept, isStillCovered, requeueFinished, requeueHeld } from './requeue.ts';
import { earliest, findDelivery } from './store.ts';

interface ReplayInput {
  readonly accountId: AccountId;
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
}

/**
 * Sends a delivery again, out of order and starting with the first attempt. A delivery that waits for its next attempt gets it
 * now; one that is about to be sent is left as it is.
 */
export async function replayDelivery(pool: Sql, { accountId, id, webhookId }: ReplayInput): Promise<DeliveryRow> {
  return inTransaction(pool, async (sql) => {
    const { destination_id: destinationId } = await lockUsableWebhook(sql, webhookId);
    const from = earliest(createdAtOf(id));
    const { isKept, isCovered } = await eventOfDelivery(sql, id, from);
    if (!isKept)
      throw new Refusal('event_expired', `The event of the delivery ${id} is older than the retention period.`);
    if (!isCovered)
      throw new Refusal(
        'forbidden',
        `The webhook ${webhookId} no longer covers the site of this event: the operator who registered it or set its URL is no ` +
          'longer super_manager there.',
      );
    const requeue = { ids: [id], destinationId, parked: true };
    const states = ['delivered', 'exhausted', 'discarded'] as const;
    // Each statement applies to one state only, so the state need not be read first.
    await makeDueNow(sql, id);
    await requeueHeld(sql, requeue);
    await requeueFinished(sql, { ...requeue, states, from, to: null });
    const row = await findDelivery(sql, accountId, id);
    if (row === null) throw notFound('delivery', id);
    return row;
  });
}

async function makeDueNow(sql: Sql, id: DeliveryId): Promise<void> {
  await sql`UPDATE deliveries SET due_at = now() WHERE id = ${id} AND state <> 'held' AND due_at > now()`;
}

interface EventOfDelivery {
  readonly isKept: boolean;
  /** The webhook still covers the site of the event. */
  readonly isCovered: boolean;
}

async function eventOfDelivery(sql: Sql, id: DeliveryId, from: Date): Promise<EventOfDelivery> {
  const columns = () => sql`account_id, webhook_id, event_seq, event_xid, occurred_at, body`;
  const [row] = await sql<EventOfDelivery[]>`
    SELECT ${eventIsKept(sql)} AS "isKept", ${isStillCovered(sql)} AS "isCovered"
      FROM (SELECT ${columns()} FROM deliveries WHERE id = ${id}
             UNION ALL
            SELECT ${columns()} FROM delivery_log WHERE delivery_id = ${id} AND final AND at >= ${from}) AS d
     LIMIT 1`;
  return row ?? { isKept: true, isCovered: true };
}
