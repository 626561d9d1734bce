import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { ForbiddenAddress } from '../../packages/server/src/platform/outbound/address-guard.ts';
import { NatsConnection, type Reply } from '../../packages/server/src/channels/nats/connection.ts';
import { otherHostCertificate, selfSigned } from '../support/network/certificate.ts';
import { TestNats } from '../support/receivers/nats.ts';
import { until } from '../support/server.ts';

const message = { subject: 'usher', headers: { 'Nats-Msg-Id': 'one' }, body: '{}' };

interface TestConnection {
  readonly connection: NatsConnection;
  readonly publish: (answerMs?: number) => Promise<Reply>;
  readonly endCount: () => number;
}

function open(
  port: number,
  { host = '127.0.0.1', ca }: { readonly host?: string; readonly ca?: string } = {},
): TestConnection {
  let ended = 0;
  const connection = new NatsConnection({
    server: { host, port, isSecure: ca !== undefined },
    credentials: null,
    lookup: (_, { all }, answer) =>
      all === true ? answer(null, [{ address: '127.0.0.1', family: 4 }]) : answer(null, '127.0.0.1', 4),
    ...(ca === undefined ? {} : { ca }),
    onEnd: () => (ended += 1),
  });
  return {
    connection,
    publish: async (answerMs = 5_000) => connection.publish(message, answerMs),
    endCount: () => ended,
  };
}

/** A TCP server that treats each connection as the test says. */
async function listen(context: TestContext, serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(
      socket
        .on('error', () => undefined)
        .on('close', () => sockets.delete(socket))
        .resume(),
    );
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

const info = 'INFO {"max_payload":1048576,"headers":true}\r\n';

/** Accepts every client, and calls `after` for each published message. */
const greet =
  (after: (socket: Socket, inbox: string) => void) =>
  (socket: Socket): void => {
    socket.write(info);
    socket.on('data', (data) => {
      const text = String(data);
      if (text.includes('PING\r\n')) socket.write('PONG\r\n');
      const [, inbox] = /HPUB usher (\S+)/.exec(text) ?? [];
      if (inbox !== undefined) after(socket, inbox);
    });
  };

const acknowledgement = '{"stream":"S","seq":1}';

test('over TLS the certificate must be for the name of the URL', async () => {
  await using good = await TestNats.start({ tls: selfSigned });
  const trusted = open(good.port, { host: 'localhost', ca: selfSigned.cert });
  assert.deepEqual(await trusted.publish(), { kind: 'no responders' });
  const byAddress = open(good.port, { ca: selfSigned.cert });
  assert.deepEqual(await byAddress.publish(), { kind: 'no responders' });
  const plain = open(good.port);
  assert.deepEqual(await plain.publish(), { kind: 'refused', error: 'Secure Connection - TLS Required' });
  await using other = await TestNats.start({ tls: otherHostCertificate });
  for (const ca of [otherHostCertificate.cert, selfSigned.cert]) {
    const reply = await open(other.port, { host: 'localhost', ca }).publish();
    assert.equal(reply.kind, 'lost');
    assert.match(reply.error, ca === otherHostCertificate.cert ? /ERR_TLS_CERT_ALTNAME_INVALID/ : /SELF_SIGNED/);
  }
  trusted.connection.close();
  byAddress.connection.close();
});

test('a forbidden address is not connected to, and the result says so', async () => {
  const connection = new NatsConnection({
    server: { host: 'nats.example', port: 4222, isSecure: false },
    credentials: null,
    lookup: (_name, _options, answer) => answer(new ForbiddenAddress('nats.example resolves to 10.0.0.1'), []),
    onEnd: () => undefined,
  });
  assert.deepEqual(await connection.publish(message, 5_000), { kind: 'forbidden' });
  // Also for a message published after the connection has failed.
  assert.deepEqual(await connection.publish(message, 5_000), { kind: 'forbidden' });
});

test('nothing is sent to a server that offers no TLS or sends data before the handshake', async (context) => {
  let received = '';
  const greetings = [info, `${info.replace('}', ',"tls_required":true}')}PING\r\n`];
  const { port } = await listen(context, (socket) => {
    socket.on('data', (data) => (received += String(data)));
    socket.write(greetings.shift() ?? '');
  });
  for (const error of ['the server does not offer TLS', 'the server sent data before TLS'])
    assert.deepEqual(await open(port, { ca: selfSigned.cert }).publish(), { kind: 'lost', error });
  assert.equal(received, '');
});

test('one connection carries many events, and responses in any order are matched to their events', async (context) => {
  const inboxes: string[] = [];
  const { port, sockets } = await listen(
    context,
    greet((socket, inbox) => {
      inboxes.push(inbox);
      if (inboxes.length < 3) return;
      for (const each of inboxes.toReversed()) socket.write(`MSG ${each} 1 ${each.length}\r\n${each}\r\n`);
    }),
  );
  const { connection, publish } = open(port);
  const first = publish();
  await until(() => inboxes.length === 1);
  const second = publish();
  await until(() => inboxes.length === 2);
  const replies = await Promise.all([first, second, publish()]);
  assert.deepEqual(
    replies.map((reply) => (reply.kind === 'answered' ? String(reply.body) : reply)),
    inboxes,
  );
  assert.equal(sockets.size, 1);
  connection.close();
});

test('a response that arrives byte by byte is read, and a PING before it is answered', async (context) => {
  let ponged = false;
  const { port } = await listen(
    context,
    greet((socket, inbox) => {
      socket.on('data', (data) => (ponged ||= String(data).includes('PONG')));
      const text = `PING\r\nHMSG ${inbox} 1 12 ${12 + acknowledgement.length}\r\nNATS/1.0\r\n\r\n${acknowledgement}\r\n`;
      for (const byte of Buffer.from(text)) socket.write(Buffer.from([byte]));
    }),
  );
  const { connection, publish } = open(port);
  assert.deepEqual(await publish(), { kind: 'answered', body: Buffer.from(acknowledgement) });
  await until(() => ponged);
  connection.close();
});

test('the connection to a silent server is closed; the connection to a slow one is kept', async (context) => {
  let answers = false;
  const { port, sockets } = await listen(
    context,
    greet((socket) => answers && socket.write('PING\r\n')),
  );
  answers = true;
  const slow = open(port);
  assert.deepEqual(await slow.publish(200), { kind: 'late', answerMs: 200 });
  assert.equal(slow.endCount(), 0);
  answers = false;
  assert.deepEqual(await slow.publish(200), { kind: 'late', answerMs: 200 });
  assert.equal(slow.endCount(), 1);
  await until(() => sockets.size === 0);
});

test('a server that violates the NATS protocol is disconnected', async (context) => {
  for (const [sent, error] of [
    ['x'.repeat(100_000), 'the line is too long'],
    ['HTTP/1.1 400 Bad Request\r\n\r\n', 'unknown operation'],
    [`${info}MSG a 1 99999999\r\n`, 'the message is too long'],
    [`${info}MSG a 1 -5\r\n`, 'the message has no valid size'],
  ] as const) {
    const { port, sockets } = await listen(context, (socket) => void socket.write(sent));
    assert.deepEqual(await open(port).publish(), {
      kind: 'lost',
      error: `the server broke the NATS protocol: ${error}`,
    });
    await until(() => sockets.size === 0);
  }
});

/** Sends the text over and over, as fast as it is read. */
function flood(socket: Socket, text: string): void {
  const block = text.repeat(Math.ceil(16_384 / text.length));
  const pour = (): void => {
    while (!socket.destroyed && socket.write(block));
    socket.once('drain', pour);
  };
  pour();
}

test('a server that sends PING without end and never reads is disconnected', async (context) => {
  const { port, sockets } = await listen(
    context,
    greet((socket) => {
      socket.pause();
      flood(socket, 'PING\r\n');
    }),
  );
  const reply = await open(port).publish(20_000);
  assert.equal(reply.kind, 'lost');
  assert.match(reply.error, /stopped reading|too much that is no answer/);
  // What the system buffers, and not what 20 s of sending would be.
  const sentBytes = [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  assert.ok(sentBytes < 20_000_000, `${sentBytes} bytes`);
});

test('messages that a server neither reads nor acknowledges do not pile up, though it sends PING', async (context) => {
  const { port } = await listen(
    context,
    greet((socket) => {
      socket.pause();
      const pinging = setInterval(() => socket.write('PING\r\n'), 20);
      socket.on('close', () => clearInterval(pinging));
    }),
  );
  const { connection, endCount } = open(port);
  const large = { ...message, body: JSON.stringify('x'.repeat(1_000_000)) };
  // More than the buffers of the system hold.
  const replies = await Promise.all(Array.from({ length: 16 }, async () => connection.publish(large, 1_000)));
  assert.deepEqual(new Set(replies.map(({ kind }) => kind)), new Set(['late', 'lost']));
  assert.equal(endCount(), 1);
});

test('many large messages at once are not taken for a server that does not read', async (context) => {
  const { port } = await listen(context, (socket) => {
    socket.write(info);
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (text.includes('\r\nPING\r\n')) socket.write('PONG\r\n');
      // A PING while everything is still unsent.
      socket.write('PING\r\n');
      for (const [, inbox] of text.matchAll(/HPUB usher (\S+)/g))
        socket.write(`MSG ${inbox} 1 ${acknowledgement.length}\r\n${acknowledgement}\r\n`);
      text = text.slice(text.lastIndexOf('\r\n') + 2).slice(-200);
    });
  });
  const { connection, endCount } = open(port);
  const large = { ...message, body: JSON.stringify('x'.repeat(500_000)) };
  const replies = await Promise.all(Array.from({ length: 32 }, async () => connection.publish(large, 10_000)));
  assert.deepEqual(new Set(replies.map(({ kind }) => kind)), new Set(['answered']));
  assert.equal(endCount(), 0);
  connection.close();
});

test('a server that reads, but sends without end what nobody asked for, is disconnected', async (context) => {
  for (const text of ['+OK\r\n', info, 'MSG other 1 2\r\n{}\r\n']) {
    const { port } = await listen(
      context,
      greet((socket) => flood(socket, text)),
    );
    const reply = await open(port).publish(20_000);
    assert.equal(reply.kind, 'lost');
    assert.match(reply.error, /too much that is no answer/);
  }
});

test('a server that never greets is given up after 5 s, and its socket is closed', async (context) => {
  const { port, sockets } = await listen(context, () => undefined);
  const { publish, endCount } = open(port);
  const began = performance.now();
  assert.deepEqual(await publish(), { kind: 'lost', error: 'no connection within 5 seconds' });
  assert.ok(performance.now() - began < 7_000);
  assert.equal(endCount(), 1);
  await until(() => sockets.size === 0);
});
