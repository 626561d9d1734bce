import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import type { Sealer } from '../../identity/sealer.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { Refusal } from '../../platform/errors.ts';
import { channelOf } from '../../channels/channels.ts';
import { newSecret, purposeOfSecret } from '../../channels/webhook-secret.ts';
import { concerning } from './audit.ts';
import { lockedWebhook } from './reach.ts';
import { findSecrets, replaceSecret } from './store.ts';

/** D8.5: how long requests are signed with both secrets. */
const oldLastsSec = 24 * 60 * 60;

interface RotatedSecret {
  readonly secret: string;
  readonly old_secret_until: Date | null;
}

/**
 * Sets the `given` secret, or a new one. If `given` is the current secret, nothing changes: the request is a repetition whose
 * answer was lost, and it must not drop the former secret.
 */
export async function rotateSecret(
  request: FastifyRequest,
  sealer: Sealer,
  id: WebhookId,
  given: string | undefined,
): Promise<RotatedSecret> {
  const seal = await sealer.seal();
  const purpose = purposeOfSecret(id);
  return inTransaction(request.sql, async (sql) => {
    const webhook = await lockedWebhook(request, sql, id, 'control');
    recordChange(request, { target: webhook, ...concerning(webhook) });
    const { unsigned } = channelOf(webhook.url);
    if (unsigned !== null) throw new Refusal('webhook_unsigned', unsigned);
    const current = await findSecrets(sql, id);
    if (given !== undefined && current.secret !== null && (await sealer.open(current.secret, purpose)) === given) {
      const unchanged = { secret: given, old_secret_until: current.oldUntil };
      recordChange(request, { before: unchanged });
      return unchanged;
    }
    const secret = given ?? newSecret();
    const until = await replaceSecret(sql, id, { secret: seal(secret, purpose), oldLastsSec });
    return { secret, old_secret_until: until };
  });
}
