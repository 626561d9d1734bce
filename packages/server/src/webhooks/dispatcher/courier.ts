import { hasSecrets, revealEvent } from '../../events/event-secrets.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { Sql } from '../../platform/database.ts';
import type { NameResolver } from '../../platform/names/name-resolver.ts';
import type { Attempt } from '../channels/attempt.ts';
import type { OpenChannels } from '../channels/open-channels.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import { patienceWith } from './patience.ts';
import type { CalledWebhook } from './webhook-book.ts';

/** The largest event there can be: every field of it has a limit. A larger one is a bug of ours, and is not sent. */
export const longestEvent = 256 * 1_024;

/** To one destination at a time. */
export const mostToDestination = 32;

interface CourierParts {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly names: NameResolver;
  readonly channels: OpenChannels;
}

/** Carries a delivery to where it goes. Whatever it meets there is an attempt, never an error. */
export class Courier {
  readonly #parts: CourierParts;

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
  carry(destination: Destination, delivery: Delivery, { send }: CalledWebhook, payload: string): Promise<Attempt> {
    const { eventId: id, type } = delivery;
    const answerMs = patienceWith(destination);
    if (!hasSecrets(type)) return send({ id, type, json: spelled(payload, type) }, destination, answerMs);
    return this.#reveal(delivery, payload).then((json) => send({ id, type, json }, destination, answerMs));
  }

  /** Cuts off what is under way to it. */
  leave(destination: Destination): void {
    this.#parts.channels.leave(destination);
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
