import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSigned, receiptIn } from './twilio.ts';

/** The example from Twilio's documentation. */
const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const fields = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675310',
  Digits: '1234',
  From: '+14158675310',
  To: '+18005551212',
};
const signature = 'GvWf1cFY/Q7PnoempGyD5oXAezc=';

function signed(more: { url?: string; form?: Record<string, string>; signature?: string; token?: string } = {}) {
  return isSigned(more.token ?? '12345', {
    url: more.url ?? url,
    form: new URLSearchParams(more.form ?? fields),
    signature: more.signature ?? signature,
  });
}

test('the signature of Twilio’s example is valid, in any order of the fields', () => {
  assert.equal(signed(), true);
  assert.equal(signed({ form: Object.fromEntries(Object.entries(fields).toReversed()) }), true);
});

test('a signature is valid with and without the port in the signed URL', () => {
  assert.equal(signed({ url: 'https://mycompany.com:8443/myapp.php?foo=1&bar=2' }), true);
});

test('a signature is invalid if anything else differs', () => {
  assert.equal(signed({ token: '12346' }), false);
  assert.equal(signed({ url: url.replace('https', 'http') }), false);
  assert.equal(signed({ url: `${url}&baz=3` }), false);
  assert.equal(signed({ form: { ...fields, Digits: '1235' } }), false);
  assert.equal(signed({ form: { ...fields, New: '' } }), false);
  assert.equal(signed({ signature: '' }), false);
  assert.equal(signed({ signature: signature.slice(0, -4) }), false);
  assert.equal(signed({ signature: 'not base64 at all' }), false);
});

test('each status of Twilio becomes the right receipt', () => {
  const kinds = (statuses: string[]) => new Set(statuses.map((status) => receiptIn(status, null)?.kind));
  assert.deepEqual(kinds(['delivered', 'read']), new Set(['delivered']));
  assert.deepEqual(kinds(['failed', 'undelivered', 'canceled']), new Set(['failed']));
  assert.deepEqual(kinds(['accepted', 'scheduled', 'queued', 'sending', 'sent']), new Set(['taken']));
  assert.deepEqual(kinds(['receiving', 'partially_delivered', '']), new Set([undefined]));
  assert.equal(receiptIn(null, null), null);
  assert.deepEqual(receiptIn('undelivered', '30003'), {
    kind: 'failed',
    why: 'The carrier reported: undelivered (30003)',
  });
  assert.deepEqual(receiptIn('failed', 'x\0'), { kind: 'failed', why: 'The carrier reported: failed' });
});
