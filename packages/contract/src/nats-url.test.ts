import assert from 'node:assert/strict';
import { test } from 'node:test';
import { natsUrlFault, parseNatsUrl } from './nats-url.ts';

test('a NATS URL is parsed into a normalised host, the port (4222 by default) and the unchanged subject', () => {
  for (const [url, hostname, port, isSecure, subject] of [
    ['nats://Example.COM/Usher.events', 'example.com', 4222, false, 'Usher.events'],
    ['TLS://example.com:443/a', 'example.com', 443, true, 'a'],
    ['nats://0x7f.1:80/a-b.c_d', '127.0.0.1', 80, false, 'a-b.c_d'],
    ['nats://[::FFFF:7f00:1]/a', '[::ffff:7f00:1]', 4222, false, 'a'],
  ] as const) {
    assert.equal(natsUrlFault(url), null);
    assert.deepEqual(parseNatsUrl(url), { hostname, port, isSecure, subject });
  }
});

const invalidSubjects = ['', '*', 'a.*', 'a.>', '>', '.a', 'a.', 'a..b', '$JS.API.INFO', '_INBOX.a', '_inbox', 'a/b', 'a?b', 'a#b', 'ä', 'a'.repeat(256)]; // prettier-ignore

test('invalid subjects (wildcards, commands, inboxes) and invalid servers are refused', () => {
  for (const url of [
    ...invalidSubjects.map((subject) => `nats://example.com/${subject}`),
    'nats://example.com',
    'nats:///a',
    'nats://example.com:0/a',
    'nats://example.com:65536/a',
    'nats://example.com:x/a',
    'nats://user@example.com/a',
    'nats://user:secret@example.com/a',
    'nats://[::1/a',
    'nats://a b/a',
  ])
    assert.notEqual(natsUrlFault(url), null, url);
});
