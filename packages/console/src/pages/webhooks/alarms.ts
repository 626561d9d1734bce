import type { Webhook } from '@usher/sdk/api-types';
import { healthOf } from './stats/health.ts';

/** The webhooks that somebody must look after: they fail, or Usher has disabled them. One that a person disabled is no alarm. */
export function alarmsOf(webhooks: readonly Webhook[], now: number): Webhook[] {
  return webhooks.filter((webhook) => {
    const health = healthOf(webhook, undefined, now);
    return health === 'failing' || (health === 'off' && webhook.disabled_because !== 'asked');
  });
}
