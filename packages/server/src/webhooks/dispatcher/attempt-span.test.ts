import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId } from '../../platform/ids.ts';
import type { SpanDescription, Tracer } from '../../platform/watching/tracing/tracer.ts';
import type { Attempt } from '../../channels/attempt.ts';
import { sendInSpan } from './attempt-span.ts';
import type { Delivery } from './delivery.ts';

const delivery = {
  type: 'engagement.start',
  eventId: 'e',
  webhookId: 'w',
  id: 'd',
  attempts: 2,
} as unknown as Delivery;
const delivered: Attempt = {
  verdict: 'delivered',
  unavailable: false,
  status: 200,
  answer: null,
  error: null,
  durationMs: 1,
  retryAfterMs: null,
};
const lost: Attempt = { ...delivered, verdict: 'failed', unavailable: true, status: null, error: 'secret text' };

/** What is reported of an attempt with this result. */
async function reported(origin: string, attempt: Attempt): Promise<SpanDescription> {
  const ended: SpanDescription[] = [];
  const span = { traceId: '', spanId: '', traceparent: '', tracestate: null, isSampled: true };
  const tracer: Tracer = { begin: () => ({ ...span, end: (description) => void ended.push(description) }) };
  const destination = { accountId: '' as AccountId, origin };
  await sendInSpan(tracer, async () => attempt, delivery)({ id: 'e', type: '', json: '' }, destination, 1);
  return ended[0] ?? assert.fail('the span has not ended');
}

test('an attempt over NATS is a producer, and the others are clients; the number of the attempt is counted from 1', async () => {
  const nats = await reported('nats://[::1]:4222', { ...delivered, status: null });
  assert.deepEqual([nats.name, nats.kind, nats.errorType], ['deliver engagement.start', 'producer', undefined]);
  assert.deepEqual([nats.attributes['server.address'], nats.attributes['server.port']], ['::1', 4_222]);
  assert.equal(nats.attributes['usher.delivery.attempt'], 3);
  const apns = await reported('apns://sandbox', delivered);
  assert.deepEqual([apns.kind, apns.attributes['server.address']], ['client', undefined]);
  assert.equal(apns.attributes['http.response.status_code'], 200);
  const http = await reported('https://example.com', delivered);
  assert.deepEqual([http.kind, http.attributes['server.port']], ['client', 443]);
});

test('the type of an error is one of few, and its text is not reported', async () => {
  const cases: [Attempt, string][] = [
    [lost, 'no_answer'],
    [{ ...lost, timedOut: true }, 'timeout'],
    [{ ...lost, unavailable: null }, 'address_not_allowed'],
    [{ ...lost, unavailable: false, verdict: 'refused' }, 'refused'],
    [{ ...lost, status: 410, verdict: 'ended' }, '410'],
  ];
  for (const [attempt, type] of cases) {
    const span = await reported('http://example.com', attempt);
    assert.equal(span.errorType, type);
    assert.doesNotMatch(JSON.stringify(span), /secret text/);
  }
});
