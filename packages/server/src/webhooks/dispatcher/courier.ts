import type { KeyObject } from 'node:crypto';
import type { ApnsTarget } from '../../events/apns-url.ts';
import { hasSecrets, revealEvent } from '../../events/event-secrets.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { Sql } from '../../platform/database.ts';
import type { NameResolver } from '../../platform/names/name-resolver.ts';
import type { Attempt } from '../attempt.ts';
import { signatureHeaders } from '../signature.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import { HttpSender, type HttpRequest } from './http-sender.ts';
import { patienceWith } from './patience.ts';
import type { CalledWebhook, HttpTarget, WebhookSource } from './webhook-book.ts';
import type { WebhookConnectors } from './webhook-connectors.ts';

/** The largest event there can be: every field of it has a limit. A larger one is a bug of ours, and is not sent. */
export const longestEvent = 256 * 1_024;

/** To one destination at a time. */
export const mostToDestination = 32;

/** Sends events to Apple's service. */
interface PushSender {
  send(push: {
    readonly target: ApnsTarget;
    readonly registeredAt: Date;
    readonly event: { readonly id: string; readonly type: string; readonly json: string };
  }): Promise<Attempt>;
}

interface CourierParts {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly connectors: WebhookConnectors;
  readonly names: NameResolver;
  readonly apns: PushSender;
}

/** Carries a delivery to where it goes. Whatever it meets there is an attempt, never an error. */
export class Courier {
  readonly #parts: CourierParts;
  /** Two to a destination: a connection that was made for a registered webhook may be none for an attached one. */
  readonly #senders = { registered: new Map<Destination, HttpSender>(), attached: new Map<Destination, HttpSender>() };

  constructor(parts: CourierParts) {
    this.#parts = parts;
  }

  /** Whether it is known what the destination's name resolves to, or that it does not. */
  isPrepared({ hostname }: Destination): boolean {
    return hostname === null || this.#parts.names.isSettled(hostname);
  }

  /** Never rejects. Afterwards the destination is prepared, unless too many names are waiting to be looked up. */
  async prepare({ hostname, accountId }: Destination): Promise<void> {
    if (hostname !== null) await this.#parts.names.resolve(hostname, accountId).catch(() => undefined);
  }

  /** Rejects only if the event's secrets could not be read from the database. */
  carry(destination: Destination, delivery: Delivery, webhook: CalledWebhook, payload: string): Promise<Attempt> {
    if (!hasSecrets(delivery.type)) return this.#carry(destination, delivery, webhook, spelled(payload, delivery.type));
    return this.#reveal(delivery, payload).then((body) => this.#carry(destination, delivery, webhook, body));
  }

  #carry(
    destination: Destination,
    { eventId, type }: Delivery,
    webhook: CalledWebhook,
    body: string,
  ): Promise<Attempt> {
    const { target, registeredAt, source } = webhook;
    if (target.kind === 'http')
      return this.#senderTo(destination, source).send(httpRequest(target, eventId, body), patienceWith(destination));
    return this.#parts.apns.send({ target, registeredAt, event: { id: eventId, type, json: body } });
  }

  /** Cuts off what is under way to it. */
  leave(destination: Destination): void {
    for (const senders of Object.values(this.#senders)) {
      senders.get(destination)?.close();
      senders.delete(destination);
    }
  }

  #senderTo(destination: Destination, source: WebhookSource): HttpSender {
    const known = this.#senders[source].get(destination);
    if (known !== undefined) return known;
    const sender = new HttpSender(destination.origin, this.#parts.connectors.for(destination.accountId, source));
    this.#senders[source].set(destination, sender);
    return sender;
  }

  /** With what the log must not hold. */
  async #reveal({ eventId, type }: Delivery, payload: string): Promise<string> {
    const { sql, sealer } = this.#parts;
    const event = { id: eventId, type, payload: JSON.parse(payload) as object };
    return JSON.stringify(await revealEvent(sql, sealer, event));
  }
}

/** Message events that were stored before migration 0023 begin so: json_build_object had written them, with spaces. */
const spacedStart = '{"event_type" : ';

/** Only one event has two names (D8.3). Every other is sent as it is stored, byte by byte, unless that is not compact. */
function spelled(payload: string, type: string): string {
  if (type !== 'engagement.chat.message.status')
    return payload.startsWith(spacedStart) ? JSON.stringify(JSON.parse(payload)) : payload;
  return JSON.stringify({ ...(JSON.parse(payload) as object), event_type: type });
}

function httpRequest(target: HttpTarget, id: string, body: string): HttpRequest {
  const now = Date.now();
  const signed = { id, timestampSec: Math.floor(now / 1_000), body, secrets: secretsOf(target, now) };
  return {
    method: target.method,
    path: target.path,
    headers: { ...target.headers, ...signatureHeaders(signed) },
    body,
  };
}

function secretsOf({ secret, oldSecret }: HttpTarget, now: number): readonly KeyObject[] {
  if (secret === null) return [];
  return oldSecret === null || oldSecret.until.getTime() <= now ? [secret] : [secret, oldSecret.key];
}
