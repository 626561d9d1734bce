import { createHmac, type KeyObject } from 'node:crypto';

interface Signed {
  /** The event's: whoever is sent it twice sees that. */
  readonly id: string;
  readonly timestampSec: number;
  readonly body: string;
  /** While a secret is being replaced, the old one signs too. */
  readonly secrets: readonly (Buffer | KeyObject)[];
}

/** The headers of a request by the scheme of Standard Webhooks. Without a secret there is nothing to sign with. */
export function signatureHeaders({ id, timestampSec, body, secrets }: Signed): Record<string, string> {
  const named = { 'webhook-id': id, 'webhook-timestamp': String(timestampSec) };
  if (secrets.length === 0) return named;
  const head = `${id}.${timestampSec}.`;
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(head).update(body).digest('base64');
    return `v1,${signature}`;
  });
  return { ...named, 'webhook-signature': signatures.join(' ') };
}
