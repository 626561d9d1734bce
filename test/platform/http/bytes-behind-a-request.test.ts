import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openWorld } from '../../support/fixture.ts';
import { call } from '../../support/server.ts';

const { server, account } = await openWorld();

/** Sends bytes and returns the statuses of all answers until the server closes the socket. */
async function statusesFor(bytes: string): Promise<number[]> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(bytes);
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

async function teamNames(): Promise<string[]> {
  const { teams } = (await call(server, 'GET /teams?per_page=1000', { token: account.admin })).body;
  return teams.map(({ name }: { name: string }) => name);
}

function post(body: string, headers: string): string {
  return `POST /teams HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${account.admin}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;
}

test('a request is answered before bytes behind it that are not HTTP', async () => {
  const body = JSON.stringify({ site_id: account.siteId, name: 'Before' });
  const request = post(body, `content-length: ${body.length}`);
  assert.deepEqual(await statusesFor(`${request}{"name":"x"}\r\n\r\n`), [201, 400]);
  assert.ok((await teamNames()).includes('Before'));
});

test('a body in malformed chunks is refused at once, and changes nothing', async () => {
  const body = JSON.stringify({ site_id: account.siteId, name: 'Chunks' });
  const size = body.length.toString(16);
  const request = post(`${size}\r\n${body}\r\nnonsense\r\n\r\n`, 'transfer-encoding: chunked');
  assert.deepEqual(await statusesFor(request), [400]);
  assert.ok(!(await teamNames()).includes('Chunks'));
});
