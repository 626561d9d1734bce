import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { after, test } from 'node:test';
import type { LookupAddress } from 'node:dns';
import { AddressGuard } from '../../../packages/server/src/platform/outbound/address-guard.ts';
import {
  FetchFailed,
  GuardedFetcher,
  type FetchLimits,
} from '../../../packages/server/src/platform/outbound/guarded-fetcher.ts';
import { NameResolver } from '../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { selfSigned } from '../../support/network/certificate.ts';
import { createServer as createTlsServer } from 'node:https';

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function serve(answer: RequestListener, server: Server = createServer()): Promise<number> {
  server.on('request', answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

type Resolving = (hostname: string) => Promise<LookupAddress[]>;

interface Fetcher {
  readonly allowed?: readonly string[];
  readonly resolve?: Resolving;
  readonly limits?: Partial<FetchLimits>;
  readonly plainHttp?: 'to allowed ranges' | 'anywhere';
}

function fetcher({ allowed = ['127.0.0.0/8'], resolve, limits = {}, plainHttp = 'to allowed ranges' }: Fetcher = {}) {
  const system = new NameResolver();
  const names = resolve === undefined ? system : { resolve, peek: () => null };
  const made = new GuardedFetcher({ guard: new AddressGuard(allowed, names), plainHttp, holder: 'test', limits });
  closers.push(async () => made.close());
  return made;
}

async function failure(running: Promise<unknown>): Promise<string> {
  const error = await running.then(
    () => null,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof FetchFailed, String(error));
  return error.reason;
}

test('a response is returned whatever its status, and redirects are not followed', async () => {
  let visits = 0;
  const port = await serve((request, response) => {
    visits += 1;
    if (request.url === '/away') response.writeHead(302, { location: '/elsewhere' }).end('moved');
    else
      response
        .writeHead(request.url === '/lost' ? 404 : 200)
        .end(`${request.method} ${String(request.headers['x-own'])}`);
  });
  const own = fetcher();
  const ask = async (path: string) =>
    own.fetch(new URL(path, `http://127.0.0.1:${port}`), { headers: { 'x-own': '1' } });
  const { status, body } = await ask('/');
  assert.deepEqual([status, body.toString()], [200, 'GET 1']);
  assert.equal((await ask('/lost')).status, 404);
  const before = visits;
  const away = await ask('/away');
  assert.deepEqual([away.status, away.headers['location']], [302, '/elsewhere']);
  assert.equal(visits, before + 1);
});

test('D8.9 forbidden addresses are not connected to: literal, in any spelling, or by name', async () => {
  let visits = 0;
  const port = await serve((_request, response) => {
    visits += 1;
    response.end();
  });
  const none = fetcher({ allowed: [], plainHttp: 'anywhere' });
  for (const host of ['127.0.0.1', '2130706433', '0177.1', '[::ffff:127.0.0.1]', '[::1]', 'localhost', '0.0.0.0'])
    assert.equal(await failure(none.fetch(new URL(`http://${host}:${port}/`))), 'forbidden_address', host);
  assert.equal(await failure(none.fetch(new URL(`https://127.0.0.1:${port}/`))), 'forbidden_address');
  assert.equal(visits, 0);
});

test('a name is checked by its addresses at connect time, for each connection', async () => {
  let visits = 0;
  const port = await serve((_request, response) => {
    visits += 1;
    response.setHeader('connection', 'close').end('in');
  });
  const answers = ['127.0.0.1', '169.254.169.254', '8.8.8.8', '127.0.0.1'];
  const lookups: string[] = [];
  const rebinding: Resolving = async (hostname) => {
    lookups.push(hostname);
    const address = answers.shift();
    if (address === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
    return [{ address, family: 4 }];
  };
  const own = fetcher({ resolve: rebinding });
  const url = new URL(`http://rebinding.example:${port}/`);
  assert.equal((await own.fetch(url)).body.toString(), 'in');
  assert.equal(await failure(own.fetch(url)), 'forbidden_address');
  // Plain http is allowed only to the allowed ranges: a host that is public now must not read their requests.
  assert.equal(await failure(own.fetch(url)), 'forbidden_address');
  assert.equal((await own.fetch(url)).body.toString(), 'in');
  assert.equal(await failure(own.fetch(url)), 'unreachable');
  assert.deepEqual([visits, lookups.length], [2, 5]);
});

test('a name with one forbidden address is not connected to', async () => {
  let visits = 0;
  const port = await serve((_request, response) => {
    visits += 1;
    response.end();
  });
  const both: Resolving = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ];
  const own = fetcher({ resolve: both });
  assert.equal(await failure(own.fetch(new URL(`http://both.example:${port}/`))), 'forbidden_address');
  assert.equal(visits, 0);
});

test('a slow, endless, too large or unreachable response is aborted', { timeout: 20_000 }, async () => {
  const port = await serve((request, response) => {
    if (request.url === '/silent') return;
    response.writeHead(200);
    if (request.url === '/dripping') {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    } else if (request.url === '/endless') {
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', pour);
      };
      pour();
    } else response.end('x'.repeat(Number(request.url?.slice(1))));
  });
  const own = fetcher({ limits: { totalMs: 400, answerBytes: 100_000 } });
  const ask = async (path: string) => own.fetch(new URL(path, `http://127.0.0.1:${port}`));
  assert.equal(await failure(ask('/silent')), 'timed_out');
  assert.equal(await failure(ask('/dripping')), 'timed_out');
  assert.equal(await failure(ask('/endless')), 'answer_too_large');
  assert.equal((await ask('/100000')).body.length, 100_000);
  assert.equal(await failure(ask('/100001')), 'answer_too_large');

  const garbage = createTcpServer((socket) => void socket.resume().end('this is no HTTP\r\n\r\n')).listen(
    0,
    '127.0.0.1',
  );
  await once(garbage, 'listening');
  const { port: garbagePort } = garbage.address() as { port: number };
  assert.equal(await failure(own.fetch(new URL(`http://127.0.0.1:${garbagePort}/`))), 'unreachable');
  garbage.close();
  await once(garbage, 'close');
  assert.equal(await failure(own.fetch(new URL(`http://127.0.0.1:${garbagePort}/`))), 'unreachable');
});

test('an untrusted certificate is refused', async () => {
  let visits = 0;
  const port = await serve(() => (visits += 1), createTlsServer(selfSigned));
  assert.equal(await failure(fetcher().fetch(new URL(`https://127.0.0.1:${port}/`))), 'unreachable');
  assert.equal(visits, 0);
});

test('close aborts running requests', async () => {
  let arrived = (): void => undefined;
  const here = new Promise<void>((resolve) => (arrived = resolve));
  const port = await serve(() => arrived());
  const own = fetcher();
  const running = failure(own.fetch(new URL(`http://127.0.0.1:${port}/`)));
  await here;
  await own.close();
  assert.equal(await running, 'unreachable');
});
