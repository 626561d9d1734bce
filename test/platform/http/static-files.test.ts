import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openWorld } from '../../support/fixture.ts';
import { call } from '../../support/server.ts';

const { server } = await openWorld();
const page = (await call(server, 'GET /console/')).body as string;
const [asset = ''] = /assets\/[\w.-]+/.exec(page) ?? [];
const files = ['/widget.js', '/docs/script.js', '/demo', '/demo/demo.js', `/console/${asset}`];

test('a file that is not the version which a request names is refused with 412', async () => {
  for (const path of files) {
    for (const condition of [{ 'if-match': '"x"' }, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }]) {
      const answer = await call(server, `GET ${path}`, { headers: condition });
      assert.equal(answer.status, 412, path);
      assert.equal(answer.body.error, 'precondition_failed');
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
    }
  }
});

test('a file is sent as a whole, whatever range a request names', async () => {
  for (const path of files) {
    const whole = await call(server, `GET ${path}`);
    for (const range of ['bytes=0-0', 'bytes=99999999-', 'bytes=-0', 'nonsense']) {
      const answer = await call(server, `GET ${path}`, { headers: { range } });
      assert.deepEqual([answer.status, answer.body], [200, whole.body], `${path} ${range}`);
    }
  }
});

test('a folder is not a file', async () => {
  const { hostname, port } = new URL(server.url);
  for (const name of ['.', '..', '%2e']) {
    // `call` would resolve the dots.
    const request = get({ hostname, port, path: `/console/assets/${name}` });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const body = JSON.parse(await text(response));
    assert.deepEqual([response.statusCode, body.error], [404, 'not_found'], name);
  }
});
