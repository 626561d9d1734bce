import { inTransaction, type Sql } from '../../platform/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import { holdUsable } from '../coverage.ts';
import { madeAt, type DeliveryId, type DeliveryRow } from './delivery.ts';
import { eventIsKept, isStillHeard, putBackFinished, putBackHeld } from './put-back.ts';
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
    const { isKept, isHeard } = await eventOfDelivery(sql, id, from);
    if (!isKept) throw new Refusal('event_expired', `The event of the delivery ${id} is older than what is kept.`);
    if (!isHeard)
      throw new Refusal(
        'forbidden',
        `The webhook ${webhookId} no longer hears of the site of this event: whoever registered it, or gave it its URL, is not ` +
          'super_manager there any more.',
      );
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

interface EventOfDelivery {
  readonly isKept: boolean;
  /** The webhook hears of its site. */
  readonly isHeard: boolean;
}

async function eventOfDelivery(sql: Sql, id: DeliveryId, from: Date): Promise<EventOfDelivery> {
  const told = () => sql`account_id, webhook_id, event_seq, event_xid, occurred_at, body`;
  const [row] = await sql<EventOfDelivery[]>`
    SELECT ${eventIsKept(sql)} AS "isKept", ${isStillHeard(sql)} AS "isHeard"
      FROM (SELECT ${told()} FROM deliveries WHERE id = ${id}
             UNION ALL
            SELECT ${told()} FROM delivery_log WHERE delivery_id = ${id} AND final AND at >= ${from}) AS d
     LIMIT 1`;
  return row ?? { isKept: true, isHeard: true };
}
