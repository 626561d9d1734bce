import { inTransaction, type Sql } from '../../platform/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import { holdUsable } from '../coverage.ts';
import { madeAt, type DeliveryId, type DeliveryRow } from './delivery.ts';
import { eventIsKept, putBackFinished, putBackHeld } from './put-back.ts';
import { earliest, findDelivery } from './store.ts';

interface Replayed {
  readonly accountId: AccountId;
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
}

/**
 * Sends a delivery again, on its own and from the first attempt on. One that waits for its next attempt has it now, and one
 * that is about to be sent is left as it is.
 */
export async function replayDelivery(pool: Sql, { accountId, id, webhookId }: Replayed): Promise<DeliveryRow> {
  return inTransaction(pool, async (sql) => {
    const { destination_id: destinationId } = await holdUsable(sql, webhookId);
    const from = earliest(madeAt(id));
    if (!(await isEventKept(sql, id, from)))
      throw new Refusal('event_expired', `The event of the delivery ${id} is older than what is kept.`);
    const back = { ids: [id], destinationId, parked: true };
    const states = ['delivered', 'exhausted', 'discarded'] as const;
    // Whatever it is at this moment: each finds it in its own state only.
    await hurry(sql, id);
    await putBackHeld(sql, back);
    await putBackFinished(sql, { ...back, states, from, to: null });
    const row = await findDelivery(sql, accountId, id);
    if (row === null) throw notFound('delivery', id);
    return row;
  });
}

async function hurry(sql: Sql, id: DeliveryId): Promise<void> {
  await sql`UPDATE deliveries SET due_at = now() WHERE id = ${id} AND state <> 'held' AND due_at > now()`;
}

async function isEventKept(sql: Sql, id: DeliveryId, from: Date): Promise<boolean> {
  const [row] = await sql<{ kept: boolean }[]>`
    SELECT ${eventIsKept(sql)} AS kept
      FROM (SELECT account_id, event_seq, event_xid, occurred_at, body FROM deliveries WHERE id = ${id}
             UNION ALL
            SELECT account_id, event_seq, event_xid, occurred_at, body
              FROM delivery_log WHERE delivery_id = ${id} AND final AND at >= ${from}) AS d
     LIMIT 1`;
  return row?.kept ?? true;
}
