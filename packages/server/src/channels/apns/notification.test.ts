import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, headersOf, maxPayloadBytes } from './notification.ts';

const alert = {
  deviceToken: 'aabb',
  topic: 'com.example.App',
  environment: 'sandbox',
  contentAvailable: false,
} as const;
const silent = { ...alert, contentAvailable: true };
const id = '0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0';
const now = new Date('2026-03-01T12:00:00.900Z');

function message(content: string) {
  const payload = {
    event_type: 'engagement.chat.message',
    event_id: id,
    dispatched_at: '2026-03-01T12:00:00.000Z',
    message: {
      id: '11111111-1111-4111-8111-111111111111',
      engagement_id: '22222222-2222-4222-8222-222222222222',
      sender: { type: 'visitor', id: '33333333-3333-4333-8333-333333333333' },
      content,
    },
    undelivered_messages: false,
  };
  return { id, type: 'engagement.chat.message', json: JSON.stringify(payload) };
}

test('an alert and a silent notification differ in their headers and in aps', () => {
  const event = message('hello');
  assert.deepEqual(headersOf(alert, event, now), {
    ':method': 'POST',
    ':path': '/3/device/aabb',
    'apns-topic': 'com.example.App',
    'apns-push-type': 'alert',
    'apns-priority': '10',
    'apns-expiration': String(Date.parse('2026-03-04T12:00:00Z') / 1000),
    'apns-id': id,
    'content-type': 'application/json',
  });
  const quiet = headersOf(silent, event, now);
  assert.deepEqual([quiet['apns-push-type'], quiet['apns-priority']], ['background', '5']);
  assert.deepEqual(JSON.parse(bodyOf(alert, event)), {
    aps: { alert: 'Engagement chat message', 'mutable-content': 1 },
    message: 'engagement.chat.message',
    content_available: false,
    data: JSON.parse(event.json),
  });
  assert.deepEqual(JSON.parse(bodyOf(silent, event)), {
    aps: { 'content-available': 1 },
    message: 'engagement.chat.message',
    content_available: true,
    data: JSON.parse(event.json),
  });
});

test('apns-id is in lower case, and is left out if the event id is not a UUID', () => {
  assert.equal(headersOf(alert, { ...message(''), id: id.toUpperCase() }, now)['apns-id'], id);
  assert.equal('apns-id' in headersOf(alert, { ...message(''), id: 'test' }, now), false);
});

test('Apple does not store typing events', () => {
  for (const who of ['visitor', 'operator']) {
    const typing = { ...message(''), type: `engagement.chat.typing_indicator.${who}` };
    assert.equal(headersOf(alert, typing, now)['apns-expiration'], '0');
  }
});

test('the payload is copied unchanged', () => {
  const json = '{ "event_type": "engagement.start",  "n": 12345678901234567890, "e": 1.0, "u": "\\u00e9" }';
  assert.ok(bodyOf(alert, { id, type: 'engagement.start', json }).endsWith(`,"data":${json}}`));
});

test('a payload is shortened if it exceeds the limit in bytes, not in characters', () => {
  const empty = Buffer.byteLength(bodyOf(alert, message('')));
  for (const letter of ['a', 'é', '€', '😀']) {
    const size = Buffer.byteLength(letter);
    const room = maxPayloadBytes - empty;
    const fill = letter.repeat(Math.floor(room / size)) + 'a'.repeat(room % size);
    const exact = bodyOf(alert, message(fill));
    assert.equal(Buffer.byteLength(exact), maxPayloadBytes);
    assert.equal(JSON.parse(exact).data.message.content, fill);
    const over = bodyOf(alert, message(`${fill}a`));
    assert.ok(Buffer.byteLength(over) < 1_000);
    const cut = {
      aps: { alert: 'Engagement chat message', 'mutable-content': 1 },
      message: 'engagement.chat.message',
      content_available: false,
      data: {
        event_type: 'engagement.chat.message',
        event_id: id,
        dispatched_at: '2026-03-01T12:00:00.000Z',
        message: {
          id: '11111111-1111-4111-8111-111111111111',
          engagement_id: '22222222-2222-4222-8222-222222222222',
          sender: { id: '33333333-3333-4333-8333-333333333333' },
        },
        truncated: true,
      },
    };
    assert.equal(over, JSON.stringify(cut), 'the common fields are all there, in their usual order');
  }
});

test('a notification never exceeds the limit, whatever the payload is', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`object_${index}_id`, '€'.repeat(64)]));
  const minimal = { event_type: 'engagement.start', event_id: id, truncated: true };
  for (const json of [
    JSON.stringify(many),
    JSON.stringify({ deep: { deep: { deep: { deep: { deep: { id, text: 'x'.repeat(5_000) } } } } } }),
    JSON.stringify([{ id, text: 'x'.repeat(5_000) }]),
    JSON.stringify('x'.repeat(5_000)),
    `{"broken": "${'x'.repeat(5_000)}`,
    JSON.stringify({ id: 'x'.repeat(5_000), other_id: 7, valid: 'x' }),
  ]) {
    const body = bodyOf(silent, { id, type: 'engagement.start', json });
    assert.ok(Buffer.byteLength(body) <= maxPayloadBytes);
    assert.deepEqual(JSON.parse(body).data, minimal);
  }
});

test('a shortened payload keeps the common fields, however many ids there are', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`object_${index}_id`, '€'.repeat(64)]));
  const common = { event_type: 'engagement.start', event_id: id, dispatched_at: '2026-03-01T12:00:00.000Z' };
  const body = bodyOf(silent, { id, type: 'engagement.start', json: JSON.stringify({ ...common, ...many }) });
  assert.equal(JSON.stringify(JSON.parse(body).data), JSON.stringify({ ...common, truncated: true }));
});

test('fields of the payload do not replace the real event id, and __proto__ is an ordinary name', () => {
  const json = `{"event_id":"other","truncated_id":"t","__proto__":{"id":"p"},"text":"${'x'.repeat(5_000)}"}`;
  const { data } = JSON.parse(bodyOf(silent, { id, type: 'engagement.start', json }));
  assert.deepEqual(Object.keys(data).toSorted(), ['__proto__', 'event_id', 'event_type', 'truncated', 'truncated_id']);
  assert.deepEqual([data.event_id, data.truncated_id], [id, 't']);
});
