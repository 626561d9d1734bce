import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { HmacKey } from './hmac-key.ts';
import { newSecret, secretBytes } from './webhook-secret.ts';
import { signatureHeaders } from './signature.ts';

const body = JSON.stringify({ event_type: 'engagement.chat.message', message: { content: 'Tere õhtust, 你好 👋' } });
const nowSec = 1_790_000_000;

/** The reference implementation refuses signatures older than five minutes, so the clock is mocked. */
function setClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['Date'], now: nowSec * 1000 });
}

function makeSecret(): { readonly text: string; readonly bytes: Buffer } {
  const text = newSecret();
  const bytes = secretBytes(text);
  assert.ok(bytes);
  return { text, bytes };
}

function sign(secrets: Parameters<typeof signatureHeaders>[0]['secrets'], more: { body?: string | Buffer } = {}) {
  return signatureHeaders({ id: 'an-event', timestampSec: nowSec, body, secrets, ...more });
}

test('D8.5 the reference implementation verifies our signatures', (t) => {
  setClock(t);
  const { text, bytes } = makeSecret();
  for (const secret of [bytes, new HmacKey(bytes)])
    for (const sent of [body, Buffer.from(body)]) {
      const headers = sign([secret], { body: sent });
      assert.deepEqual(new Webhook(text).verify(body, { ...headers }), JSON.parse(body));
      assert.equal(headers['webhook-id'], 'an-event');
      assert.equal(headers['webhook-signature'], new Webhook(text).sign('an-event', new Date(nowSec * 1000), body));
    }
});

test('a signature is invalid for another body, id, time or secret', (t) => {
  setClock(t);
  const { text, bytes } = makeSecret();
  const headers = { ...sign([bytes]) };
  const receiver = new Webhook(text);
  for (const [what, altered] of [
    [`${body} `, headers],
    [body, { ...headers, 'webhook-id': 'another-event' }],
    [body, { ...headers, 'webhook-timestamp': String(nowSec + 1) }],
    [body, sign([makeSecret().bytes])],
    [body, sign([])],
  ] as const)
    assert.throws(() => receiver.verify(what, { ...altered }), WebhookVerificationError);
});

test('D8.5 during a rotation receivers with the old or the new secret can verify', (t) => {
  setClock(t);
  const [old, next, foreign] = [makeSecret(), makeSecret(), makeSecret()];
  const headers = { ...sign([next.bytes, old.bytes]) };
  assert.match(headers['webhook-signature'] ?? '', /^v1,\S{44} v1,\S{44}$/);
  for (const { text } of [old, next]) assert.ok(new Webhook(text).verify(body, headers));
  assert.throws(() => new Webhook(foreign.text).verify(body, headers), WebhookVerificationError);
});

test('without a secret the headers have an id and a time, and no signature', () => {
  assert.deepEqual(sign([]), { 'webhook-id': 'an-event', 'webhook-timestamp': String(nowSec) });
});
