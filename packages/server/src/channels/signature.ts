import type { OutgoingEvent, SigningKeys } from './channel.ts';
import { HmacKey } from './hmac-key.ts';

/** The input of a signature by Standard Webhooks, which uses a shared secret. */
interface SignatureInput {
  /** The same in every attempt, so that receivers can ignore repetitions. */
  readonly id: string;
  /** When the request is sent, not when the event happened: receivers refuse old timestamps. */
  readonly timestampSec: number;
  /** The body, byte for byte as it is sent. */
  readonly body: string | Buffer;
  /** The request is signed with each of them: the current secret and, after a rotation, the former one. None: it is not signed. */
  readonly secrets: readonly (Buffer | HmacKey)[];
}

/** A reused `HmacKey` is cheaper than the bytes of a secret. */
export function signatureHeaders({ id, timestampSec, body, secrets }: SignatureInput): Record<string, string> {
  const head = { 'webhook-id': id, 'webhook-timestamp': String(timestampSec) };
  if (secrets.length === 0) return head;
  const signatures = secrets.map((secret) => {
    const key = secret instanceof HmacKey ? secret : new HmacKey(secret);
    return `v1,${key.sign(`${id}.${timestampSec}.`, body)}`;
  });
  return { ...head, 'webhook-signature': signatures.join(' ') };
}

/** The headers of an event that is sent now. */
export function signedHeaders({ id, json }: OutgoingEvent, keys: SigningKeys): Record<string, string> {
  const now = Date.now();
  return signatureHeaders({ id, timestampSec: Math.floor(now / 1_000), body: json, secrets: keysAt(keys, now) });
}

function keysAt({ current, former }: SigningKeys, now: number): readonly HmacKey[] {
  if (current === null) return [];
  return former === null || former.until.getTime() <= now ? [current] : [current, former.key];
}
