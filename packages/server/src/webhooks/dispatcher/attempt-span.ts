import { bareHost } from '../../platform/outbound/address-guard.ts';
import type { Attributes, SpanDescription, Tracer } from '../../platform/watching/tracing/tracer.ts';
import type { Attempt } from '../../channels/attempt.ts';
import type { Send } from '../../channels/channel.ts';
import { findChannel } from '../../channels/channels.ts';
import type { Delivery } from './delivery.ts';

/** Sends a delivery within a span of its own. The spans of the receiver are below it. */
export function sendInSpan(tracer: Tracer, send: Send, delivery: Delivery): Send {
  return async (event, destination, answerMs) => {
    const span = tracer.begin(event.trace ?? null);
    const attempt = await send({ ...event, trace: span }, destination, answerMs);
    if (span.isSampled) span.end(describe(destination.origin, delivery, attempt));
    return attempt;
  };
}

/** Of the webhook's URL only host and port are reported: paths often contain secrets. */
function describe(origin: string, delivery: Delivery, attempt: Attempt): SpanDescription {
  const channel = findChannel(origin)?.kind;
  const errorType = attempt.verdict === 'delivered' ? undefined : errorTypeOf(attempt);
  return {
    name: `deliver ${delivery.type}`,
    kind: channel === 'nats' ? 'producer' : 'client',
    attributes: {
      'usher.event.type': delivery.type,
      'usher.event.id': delivery.eventId,
      'usher.webhook.id': delivery.webhookId,
      'usher.webhook.channel': channel,
      'usher.delivery.id': delivery.id,
      'usher.delivery.attempt': delivery.attempts + 1,
      ...receiverOf(origin),
      ...(channel === 'nats' ? {} : { 'http.response.status_code': attempt.status ?? undefined }),
    },
    ...(errorType === undefined ? {} : { errorType }),
  };
}

function receiverOf(origin: string): Attributes {
  const address = findChannel(origin)?.addressOf(origin) ?? null;
  if (address === null) return {};
  const standardPort = address.protocol === 'https:' ? 443 : 80;
  return {
    'server.address': bareHost(address),
    'server.port': address.port === '' ? standardPort : Number(address.port),
  };
}

/** One of few values. The delivery log has the whole text, which may repeat what the receiver said. */
function errorTypeOf({ status, timedOut, unavailable }: Attempt): string {
  if (status !== null) return String(status);
  if (timedOut === true) return 'timeout';
  if (unavailable === null) return 'address_not_allowed';
  return unavailable ? 'no_answer' : 'refused';
}
