import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Writable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { mock, test } from 'node:test';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import { createApp } from '../../../packages/server/src/platform/http/create-app.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import {
  discardIfLate,
  endDeadline,
  keepAnswer,
  startDeadline,
} from '../../../packages/server/src/platform/http/request-deadline.ts';
import { installPath } from '../../../packages/server/src/platform/http/request-path.ts';
import type { Json } from '../../support/server.ts';

test('a request is answered at its deadline even if its handler or a hook before it never ends', async (t) => {
  const logged: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => (logged.push(String(chunk)), done()) });
  const log = createLog('info', sink);
  const app = createApp({ log, sql: null as unknown as Sql, trustProxy: false });
  const { promise: late, resolve } = Promise.withResolvers<object>();
  installPath(app, {
    onRequest: { all: [startDeadline] },
    aroundHandler: [() => discardIfLate(log)],
    onSend: { all: [keepAnswer] },
    onResponse: { all: [endDeadline] },
  });
  app.addHook('onRequest', async ({ url }) => (url === '/hook' ? late.then(() => undefined) : undefined));
  app.get('/hook', async () => ({}));
  app.get('/handler', async () => late);
  app.get('/failing', async () => late.then(async () => Promise.reject(new Error('too late to matter'))));
  // The handler fails, or ends, while a hook still works on the answer of the deadline.
  const { promise: sending, resolve: send } = Promise.withResolvers<void>();
  const { promise: racing, resolve: race } = Promise.withResolvers<void>();
  const held = new Set<string>();
  app.addHook('onSend', async ({ url }) => {
    if (!url.startsWith('/racing') || held.has(url)) return;
    held.add(url);
    if (held.size === 2) race();
    await sending;
  });
  const schema = { tags: ['Test'] };
  const lose = async (): Promise<never> => Promise.reject(new Error('the transaction is lost'));
  app.get('/racing-error', { schema }, async () => racing.then(lose));
  app.get('/racing-answer', { schema }, async () => racing.then(() => ({ late: true })));
  // The deadline passes while a hook works on the answer of the handler.
  app.get('/slow-hook', { schema }, async () => ({ done: true }));
  app.addHook('onSend', async ({ url }) => (url === '/slow-hook' ? sending : undefined));
  app.get('/quick', async () => ({ done: true }));
  t.after(async () => app.close());
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });

  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let aheadMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + aheadMs);
  const passMs = (ms: number): void => {
    aheadMs += ms;
    mock.timers.tick(ms);
  };
  let answered = 0;
  const pending = ['/hook', '/handler', '/failing', '/racing-error', '/racing-answer'].map(async (path) =>
    get(`${origin}${path}`).finally(() => (answered += 1)),
  );
  const slowHook = get(`${origin}/slow-hook`);
  assert.deepEqual((await get(`${origin}/quick`)).body, { done: true });
  passMs(21_000);
  await new Promise(setImmediate);
  assert.equal(answered, 0, 'nothing is answered before the deadline');
  passMs(1_000);
  await racing;
  await new Promise(setImmediate);
  send();
  for (const { status, retryAfter, body } of await Promise.all(pending)) {
    assert.equal(status, 503);
    assert.equal(body.error, 'database_unavailable');
    assert.equal(retryAfter, '2');
  }
  assert.deepEqual((await slowHook).body, { done: true });
  resolve({ late: true });
  await new Promise(setImmediate);
  const faults = logged.filter((line) => line.includes('"level":"error"'));
  assert.deepEqual(faults, [], 'a result after the deadline is not logged as an error');
});

async function get(url: string): Promise<{ status: number | undefined; retryAfter: string | undefined; body: Json }> {
  return new Promise((resolve, reject) => {
    const pending = request(url, { agent: false }, (response) => {
      json(response).then(
        (body) => resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'], body }),
        reject,
      );
    });
    pending.on('error', reject).end();
  });
}
