import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { buildConnector, Client } from 'undici';
import type { OutgoingEvent } from '../../packages/server/src/channels/channel.ts';
import { HmacKey } from '../../packages/server/src/channels/hmac-key.ts';
import { requestsFor, type HttpRequest } from '../../packages/server/src/channels/http/request.ts';
import { HttpSender } from '../../packages/server/src/channels/http/sender.ts';
import { signedHeaders } from '../../packages/server/src/channels/signature.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const answerMs = 10_000;
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const tracestate = 'vendor=a b,other=c';
const event: OutgoingEvent = {
  id: '7b0a6c6e-3f3d-4b52-8f5d-5a2b8f0c1d11',
  type: 'engagement.end',
  json: JSON.stringify({ content: 'Tere õhtust, 你好 👋' }),
  trace: { traceparent, tracestate },
};
const keys = { current: new HmacKey(Buffer.alloc(32, 'k')), former: null };

/** A receiver of raw bytes. `onRequest` is called when a request is complete. */
class RawReceiver {
  readonly requests: string[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;

  constructor(onRequest: (socket: Socket, count: number) => void, body = event.json) {
    this.#server = createServer((socket) => {
      let received = Buffer.alloc(0);
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        if (!received.toString().endsWith(`\r\n\r\n${body}`)) return;
        this.requests.push(received.toString('latin1'));
        received = Buffer.alloc(0);
        onRequest(socket, this.requests.length);
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    assert.ok(typeof address === 'object' && address !== null);
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }
}

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

async function open(onRequest: (socket: Socket, count: number) => void, body?: string) {
  const receiver = new RawReceiver(onRequest, body);
  const origin = await receiver.listen();
  const sender = new HttpSender(origin, buildConnector({ timeout: 5_000, allowH2: false }));
  opened.push(sender, receiver);
  return { receiver, origin, sender };
}

function requestTo(origin: string, fields: { method?: string; headers?: Record<string, string> } = {}): HttpRequest {
  return requestsFor({ method: 'POST', url: new URL('/hook?a=b', origin), headers: {}, keys, ...fields })(event);
}

for (const [name, method, headers] of [
  ['no headers of its own', 'POST', {}],
  ['headers of its own', 'PUT', { 'X-A': 'b', 'User-Agent': 'mine', 'content-type': 'application/vnd.a+json' }],
  ['a header beyond ASCII', 'PATCH', { 'x-name': 'J\xf5geva \xff' }],
  ['a trace of its own', 'POST', { Traceparent: 'mine' }],
  ['DELETE', 'DELETE', {}],
] as const)
  test(`a request is the same as that of undici, byte by byte: ${name}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_790_000_000_000 });
    const { receiver, origin, sender } = await open((socket) => socket.write(ok));
    assert.equal((await sender.send(requestTo(origin, { method, headers }), answerMs)).verdict, 'delivered');
    const client = new Client(origin);
    const { body } = await client.request({
      method,
      path: '/hook?a=b',
      headers: {
        ...('Traceparent' in headers ? {} : { traceparent, tracestate }),
        ...headers,
        ...('User-Agent' in headers ? {} : { 'user-agent': 'Usher-Webhooks/1' }),
        ...('content-type' in headers ? {} : { 'content-type': 'application/json' }),
        ...signedHeaders(event, keys),
      },
      body: event.json,
    });
    await body.dump();
    await client.destroy();
    assert.equal(receiver.requests.length, 2);
    assert.equal(receiver.requests[0], receiver.requests[1]);
  });

test('headers that could forge a request are not sent', () => {
  for (const headers of [
    { x: 'a\r\nb: c' },
    { 'x\r\ny': 'a' },
    { 'Content-Length': '1' },
    { 'transfer-encoding': 'x' },
  ])
    assert.throws(() => requestTo('http://a.example', { headers }), /cannot be sent/);
});

test('requests one after the other use one connection, concurrent ones several', async () => {
  const { receiver, origin, sender } = await open((socket) => socket.write(ok));
  const request = requestTo(origin);
  for (let nth = 0; nth < 3; nth += 1) assert.equal((await sender.send(request, answerMs)).answer, 'ok');
  assert.equal(receiver.sockets.length, 1);
  await Promise.all(Array.from({ length: 3 }, async () => sender.send(request, answerMs)));
  assert.equal(receiver.sockets.length, 3);
});

test('a connection that the receiver closed while it was idle is replaced, and the request does not fail', async () => {
  const { receiver, origin, sender } = await open((socket) => socket.write(ok));
  const request = requestTo(origin);
  await sender.send(request, answerMs);
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const socket = receiver.sockets.at(-1);
    assert.ok(socket);
    socket[end]();
    await once(socket, 'close');
    assert.equal((await sender.send(request, answerMs)).verdict, 'delivered');
  }
  assert.equal(receiver.sockets.length, 3);
});

test('a request that was sent and not answered has failed and is not repeated', async () => {
  const { receiver, origin, sender } = await open(
    (socket, count) => void (count === 2 ? socket.end() : socket.write(ok)),
  );
  const request = requestTo(origin);
  await sender.send(request, answerMs);
  const { verdict, status, unavailable, error } = await sender.send(request, answerMs);
  assert.deepEqual(
    { verdict, status, unavailable, error },
    { verdict: 'failed', status: null, unavailable: true, error: 'other side closed (UND_ERR_SOCKET)' },
  );
  assert.equal(receiver.requests.length, 2);
  assert.equal((await sender.send(request, answerMs)).verdict, 'delivered');
});

test('an answer that comes before the request is complete counts, and the connection is not used again', async () => {
  // More than the buffers of the system hold, and the receiver does not read it.
  const json = JSON.stringify('x'.repeat(20_000_000));
  const { receiver, origin, sender } = await open(() => undefined);
  const request = requestsFor({ method: 'POST', url: new URL(origin), headers: {}, keys })({ ...event, json });
  const sending = sender.send(request, answerMs);
  while (receiver.sockets[0] === undefined) await new Promise(setImmediate);
  receiver.sockets[0].pause().write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
  assert.equal((await sending).status, 413);
  void sender.send(requestTo(origin), answerMs);
  while (receiver.sockets.length === 1) await new Promise(setImmediate);
});

for (const [what, bytes] of [
  ['informational answers', 'HTTP/1.1 103 Hints\r\n\r\n'],
  ['informational answers with headers', 'HTTP/1.1 102 Wait\r\nx: y\r\n\r\n'],
  ['line breaks', '\r\n'],
] as const)
  test(`a receiver that sends ${what} without end is disconnected after the bytes of one head`, async () => {
    const { receiver, origin, sender } = await open((socket) => {
      const block = bytes.repeat(Math.ceil(8_192 / bytes.length));
      const pour = (): void => {
        while (!socket.destroyed && socket.write(block));
        socket.once('drain', pour);
      };
      pour();
    });
    const { verdict, error } = await sender.send(requestTo(origin), answerMs);
    assert.deepEqual([verdict, error], ['failed', 'Headers Overflow Error (UND_ERR_HEADERS_OVERFLOW)']);
    // What the system buffers, and not what 10 s of sending would be.
    assert.ok((receiver.sockets[0]?.bytesWritten ?? 0) < 20_000_000);
  });

test('chunk extensions and trailers of an answer are limited together', async () => {
  const chunk = `1;${'x'.repeat(1_000)}\r\ny\r\n`;
  const { origin, sender } = await open((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`);
  });
  const { status, error } = await sender.send(requestTo(origin), answerMs);
  assert.deepEqual([status, error], [200, 'Headers Overflow Error (UND_ERR_HEADERS_OVERFLOW)']);
});

test('after anything but a clean 2xx, a late answer does not count for the next request', async () => {
  for (const first of [
    'HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n',
    `HTTP/1.1 103 Hints\r\n\r\n${ok}`,
  ]) {
    const { receiver, origin, sender } = await open((socket, count) => {
      if (count === 1) socket.write(first);
      // The late answer to the first request arrives when the second has been sent.
      else if (receiver.sockets.length === 1) socket.write(ok);
      else socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n');
    });
    await sender.send(requestTo(origin), answerMs);
    assert.equal((await sender.send(requestTo(origin), answerMs)).status, 500);
    assert.equal(receiver.sockets.length, 2);
  }
});

test('an answer that arrives on a new connection before the request does not count', async () => {
  const receiver = new RawReceiver(() => undefined);
  const origin = await receiver.listen();
  const connect = buildConnector({ timeout: 5_000, allowH2: false });
  const sender = new HttpSender(origin, (options, callback) =>
    connect(options, (error, socket) => {
      assert.ok(error === null);
      void (async () => {
        while (receiver.sockets.length === 0) await new Promise(setImmediate);
        receiver.sockets[0]?.write(ok);
        while (socket.readableLength === 0) await new Promise(setImmediate);
        callback(null, socket);
      })();
    }),
  );
  opened.push(sender, receiver);
  const { verdict, status, unavailable, error } = await sender.send(requestTo(origin), answerMs);
  assert.deepEqual(
    { verdict, status, unavailable, error },
    {
      verdict: 'failed',
      status: null,
      unavailable: true,
      error: 'the receiver sent data before the request (UND_ERR_SOCKET)',
    },
  );
  assert.deepEqual(receiver.requests, []);
});

test('closing the sender fails the requests in flight', async () => {
  const { sender, receiver, origin } = await open(() => undefined);
  const sending = sender.send(requestTo(origin), answerMs);
  while (receiver.requests.length === 0) await new Promise(setImmediate);
  sender.close();
  assert.equal((await sending).verdict, 'failed');
  assert.equal((await sender.send(requestTo(origin), answerMs)).verdict, 'failed');
});
