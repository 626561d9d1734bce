import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nats } from '../nats.ts';
import { parseNatsUrl } from './url.ts';

test('a NATS URL is taken apart: the host in its one spelling, the usual port, the subject as it is', () => {
  for (const [url, host, port, isSecure, subject, origin] of [
    ['nats://Example.COM/Usher.events', 'example.com', 4222, false, 'Usher.events', 'nats://example.com:4222'],
    ['TLS://example.com:443/a', 'example.com', 443, true, 'a', 'tls://example.com:443'],
    ['nats://0x7f.1:80/a-b.c_d', '127.0.0.1', 80, false, 'a-b.c_d', 'nats://127.0.0.1:80'],
    ['nats://[::FFFF:7f00:1]/a', '::ffff:7f00:1', 4222, false, 'a', 'nats://[::ffff:7f00:1]:4222'],
  ] as const) {
    assert.deepEqual(parseNatsUrl(url), { host, port, isSecure, subject });
    assert.equal(nats.originOf(url), origin);
    assert.equal(nats.originOf(origin), origin);
    assert.equal(nats.addressOf(origin)?.hostname.replaceAll(/[[\]]/g, ''), host);
  }
});

test('wildcards, commands, inboxes and what is no subject are refused, as is what is no server', () => {
  const at = (subject: string): string => `nats://example.com/${subject}`;
  for (const url of [
    ...[
      '',
      '*',
      'a.*',
      'a.>',
      '>',
      '.a',
      'a.',
      'a..b',
      '$JS.API.INFO',
      '_INBOX.a',
      '_inbox',
      'a/b',
      'a?b',
      'a#b',
      'ä',
    ].map(at),
    at('a'.repeat(256)),
    'nats://example.com',
    'nats:///a',
    'nats://example.com:0/a',
    'nats://example.com:65536/a',
    'nats://example.com:x/a',
    'nats://user@example.com/a',
    'nats://user:secret@example.com/a',
    'nats://[::1/a',
    'nats://a,b:c/a',
  ])
    assert.ok('faults' in parseNatsUrl(url), url);
});
