import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestServer } from '../support/server.ts';

const maxBytes = 45 * 1024;

test('the widget, with styles and calls, is one file of at most 45 KB gzipped', async () => {
  await using server = await startTestServer();
  const answer = await fetch(`${server.url}/widget.js`, { headers: { 'accept-encoding': 'identity' } });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /javascript/);
  const bytes = gzipSync(await answer.bytes()).length;
  assert.ok(bytes > 10_000, 'the widget was built');
  assert.ok(bytes <= maxBytes, `${bytes} bytes`);
  const built = readdirSync('packages/widget/dist').filter((name) => /\.(?:js|css|mjs)$/.test(name));
  assert.deepEqual(built, ['widget.js']);
});

test('browsers receive the widget compressed', async () => {
  await using server = await startTestServer();
  const answer = await fetch(`${server.url}/widget.js`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(answer.headers.get('content-encoding'), 'gzip');
  assert.ok(statSync('packages/widget/dist/widget.js.gz').size <= maxBytes);
});
