import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createSecureServer, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Config } from '../../../packages/server/src/config.ts';
import { selfSigned } from '../network/certificate.ts';
import type { Json } from '../server.ts';

/** A notification that was received completely. */
export interface Push {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: Json;
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
  /** The number of open streams on the session when the notification arrived, its own included. */
  readonly open: number;
  answer(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void;
}

export interface FakeApple {
  readonly url: string;
  readonly pushes: Push[];
  readonly sessions: Set<Http2Session>;
  /** The number of sessions so far, closed ones included. */
  readonly connectionCount: number;
  /** Is called for each notification. By default it answers 200. */
  onPush: (push: Push) => void;
  /** From now on no data passes in either direction. Connections stay open. */
  stall(): void;
  /** Resets every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** The certificate authority that a sender must trust. */
export const appleCa = selfSigned.cert;

/** A fake of Apple's service: HTTP/2 over TLS, behind a TCP relay that tests can stall and cut. */
export async function startApple(maxConcurrentStreams = 1_000, tls = selfSigned): Promise<FakeApple> {
  const pushes: Push[] = [];
  const sessions = new Set<Http2Session>();
  const open = new Map<Http2Session, number>();
  let connected = 0;
  const server = createSecureServer({ ...tls, settings: { maxConcurrentStreams } });
  server.on('session', (session) => {
    connected += 1;
    sessions.add(session);
    session.on('close', () => sessions.delete(session)).on('error', () => undefined);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const { session } = stream;
    if (session === undefined) return;
    open.set(session, (open.get(session) ?? 0) + 1);
    const chunks: Buffer[] = [];
    stream
      .on('error', () => undefined)
      .on('close', () => open.set(session, (open.get(session) ?? 0) - 1))
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const push: Push = {
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
          text,
          json: JSON.parse(text),
          stream,
          session,
          open: open.get(session) ?? 0,
          answer(status, body, more = {}) {
            if (stream.destroyed) return;
            stream.respond({ ':status': status, ...more });
            stream.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
          },
        };
        pushes.push(push);
        apple.onPush(push);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay = await startTcpRelay((server.address() as AddressInfo).port);
  const apple: FakeApple = {
    url: `https://localhost:${relay.port}`,
    pushes,
    sessions,
    get connectionCount() {
      return connected;
    },
    onPush: (push) => push.answer(200),
    stall: () => relay.stall(),
    cut: () => relay.cut(),
    async close() {
      relay.close();
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return apple;
}

/** Forwards TCP connections to a port. */
async function startTcpRelay(target: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  const relay = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('error', () => undefined).on('data', (bytes) => to.write(bytes));
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = (): void => {
    for (const [near] of pairs) near.resetAndDestroy();
  };
  return {
    port: (relay.address() as AddressInfo).port,
    stall() {
      for (const sockets of pairs) for (const socket of sockets) socket.removeAllListeners('data').resume();
    },
    cut,
    close() {
      cut();
      relay.close();
    },
  };
}

/** Settings as `readConfig` returns them, with a new key. */
export function appleSettings(url: string): { settings: NonNullable<Config['apns']>; publicKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const settings = {
    key: privateKey,
    keyId: 'ABC123DEFG',
    teamId: 'DEF123GHIJ',
    sandboxUrl: url,
    productionUrl: url,
  };
  return { settings, publicKey };
}
