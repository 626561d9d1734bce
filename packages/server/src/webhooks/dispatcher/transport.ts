import { hasSecrets, revealEvent } from '../../events/event-secrets.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { NameResolver } from '../../platform/outbound/names/name-resolver.ts';
import type { Tracer } from '../../platform/watching/tracing/tracer.ts';
import type { Attempt } from '../../channels/attempt.ts';
import type { OpenChannels } from '../../channels/open-channels.ts';
import { sendInSpan } from './attempt-span.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import { answerTimeoutMs } from './outcomes/answer-timeouts.ts';
import type { CachedWebhook } from './reading/webhook-cache.ts';

/** The largest possible event: every field has a limit. A larger one is a bug of ours and is not sent. */
export const maxEventBytes = 256 * 1_024;

/** Concurrent requests to one destination. */
export const maxPerDestination = 32;

interface TransportDependencies {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly names: NameResolver;
  readonly channels: OpenChannels;
  readonly tracer?: Tracer | null;
}

/** Sends deliveries by the channels of their webhooks. Every error of a receiver is a failed attempt, not an exception. */
export class Transport {
  readonly #deps: TransportDependencies;

  constructor(deps: TransportDependencies) {
    this.#deps = deps;
  }

  /** Whether the destination's host name has been looked up, successfully or not. */
  isPrepared({ hostname }: Destination): boolean {
    return hostname === null || this.#deps.names.isAnswered(hostname);
  }

  /** Looks up the host name. Never rejects. Afterwards the destination is prepared, unless too many lookups are waiting. */
  async prepare({ hostname, accountId }: Destination): Promise<void> {
    if (hostname !== null) await this.#deps.names.resolve(hostname, accountId).catch(() => undefined);
  }

  /** Rejects only if the secrets of the event cannot be read from the database. */
  send(destination: Destination, delivery: Delivery, webhook: CachedWebhook, payload: string): Promise<Attempt> {
    const { tracer = null } = this.#deps;
    const send = tracer === null ? webhook.send : sendInSpan(tracer, webhook.send, delivery);
    const { eventId: id, type, traceparent = null, tracestate = null } = delivery;
    const trace = traceparent === null ? null : { traceparent, tracestate };
    const answerMs = answerTimeoutMs(destination);
    if (!hasSecrets(type)) return send({ id, type, json: spelled(payload, type), trace }, destination, answerMs);
    return this.#reveal(delivery, payload).then((json) => send({ id, type, json, trace }, destination, answerMs));
  }

  /** Closes the connections to the destination; requests in flight fail. */
  closeDestination(destination: Destination): void {
    this.#deps.channels.closeDestination(destination);
  }

  /** The payload with its secrets, which the log does not have. */
  async #reveal({ eventId, type }: Delivery, payload: string): Promise<string> {
    const { sql, sealer } = this.#deps;
    const event = { id: eventId, type, payload: JSON.parse(payload) as object };
    return JSON.stringify(await revealEvent(sql, sealer, event));
  }
}

/** Message events stored before migration 0023 begin like this: json_build_object wrote them with spaces. */
const spacedStart = '{"event_type" : ';

/** Sets the spelling of the one event with two names (D8.3). All others are sent byte by byte as stored, unless that is not compact. */
function spelled(payload: string, type: string): string {
  if (type !== 'engagement.chat.message.status')
    return payload.startsWith(spacedStart) ? JSON.stringify(JSON.parse(payload)) : payload;
  return JSON.stringify({ ...(JSON.parse(payload) as object), event_type: type });
}
