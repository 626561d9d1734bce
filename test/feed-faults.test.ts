import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engage } from './support/chat.ts';
import { openFeed } from './support/feed.ts';
import { call, startTestServer, until, type Json, type TestServer } from './support/server.ts';
import { expectStatus, makeAccount, makeOperator, present } from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(async () => server[Symbol.asyncDispose]());

test('a reader that is gone before it is known who it is holds no presence', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  // One that does not know the operator yet, and must look.
  await using second = await startTestServer({}, server.database.address);
  const controller = new AbortController();
  const { sql } = server.database;
  const connections = async (): Promise<number> =>
    new Promise((resolve) => {
      second.app.server.getConnections((_error, count) => resolve(count));
    });
  await sql.begin(async (slow) => {
    await slow`LOCK TABLE operators IN ACCESS EXCLUSIVE MODE`;
    const asked = fetch(`${second.url}/feed?hold_presence=true`, {
      signal: controller.signal,
      headers: { authorization: `Bearer ${operator.token}` },
    }).catch(() => undefined);
    await until(async () => (await connections()) === 1);
    await until(
      async () =>
        (await sql`SELECT 1 FROM pg_locks WHERE relation = 'operators'::regclass AND NOT granted`).length > 0,
    );
    controller.abort();
    await asked;
    await until(async () => (await connections()) === 0);
  });
  await present(server, operator, { expires_in_sec: 12 });
  const shown = async (): Promise<Json> =>
    (await call(server, `GET /operators/${operator.id}`, { token: own.admin })).body;
  const { presence_expires_at } = await shown();
  await until(async () => (await shown()).available === false, 14_000);
  assert.equal((await shown()).presence_expires_at, presence_expires_at);
});

test('typing that is kept for a webhook is heard at once, too', async () => {
  const type = 'engagement.chat.typing_indicator.visitor';
  const webhooks = [{ url: 'https://a.test/h', method: 'POST', events: [type] }];
  const chat = await engage(server, {}, { webhooks });
  await using feed = await openFeed(server, { token: chat.operator.token });
  const heardMs: number[] = [];
  for (const typing of [true, false, true]) {
    const began = performance.now();
    const path = `PUT /engagements/${chat.id}/typing_indicator`;
    expectStatus(await call(server, path, { token: chat.visitor.token, body: { typing } }), 204);
    const count = heardMs.length + 1;
    await feed.until(() => feed.items.filter((item) => item.type === type).length === count, 'typing');
    heardMs.push(performance.now() - began);
  }
  // Without a hint it is found when the log is looked at, every 2 s: three in a row take longer than this.
  assert.ok(Math.max(...heardMs) < 1_000, `${heardMs.join(', ')} ms`);
});
