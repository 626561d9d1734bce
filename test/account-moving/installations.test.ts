import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { accountOf, exportFrom, importInto } from '../support/account-move.ts';
import { startInstallationsProxy } from '../support/network/installations-proxy.ts';
import { sendText } from '../support/people/chat.ts';
import { contents, isMessage, openFeed } from '../support/people/feed.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { OrderLedger, openEngagements, startLedgerReceiver, writeInOrder } from '../support/receivers/ordered-load.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { call, startTestServer, until } from '../support/server.ts';

const settings = { webhookAllowCidrs: ['127.0.0.0/8'], trustProxy: 1 };
const type = 'engagement.chat.message';

test('ops/haproxy/installations.cfg: accounts of three installations, one of which moves from one to another and on', async (t) => {
  const folder = temporaryDirectory();
  t.after(() => folder.remove());
  await using north = await startTestServer(settings);
  await using south = await startTestServer(settings);
  await using west = await startTestServer(settings);
  const installations = [north, south, west];
  await using proxy = await startInstallationsProxy(installations);
  const ledger = new OrderLedger();
  const receiver = await startLedgerReceiver(ledger);
  t.after(async () => receiver.close());

  const opened = await Promise.all(
    installations.map(async (installation, host) => {
      await until(async () => (await call({ url: proxy.urls[host] ?? '' }, 'GET /readyz')).status === 200);
      const engagements = await openEngagements(installation, 2);
      return engagements.map((engaged) => ({ ...engaged, server: { ...engaged.server, url: proxy.urls[host] ?? '' } }));
    }),
  );
  const [chat] = opened[0] ?? [];
  assert.ok(chat !== undefined);
  await makeWebhook(north, chat.own, { url: receiver.url, events: [type] });
  const id = await accountOf(north, chat.own.siteId);
  const isOver = new AbortController();
  const load = writeInOrder(opened[0] ?? [], { seconds: 240, perSecond: 60, retry: true, signal: isOver.signal });
  const beside = writeInOrder(opened.slice(1).flat(), { seconds: 240, perSecond: 30, signal: isOver.signal });

  for (const [from, to] of [
    [0, 1],
    [1, 2],
  ] as const) {
    const [source, target] = [installations[from], installations[to]];
    assert.ok(source !== undefined && target !== undefined);
    const feed = await openFeed(chat.server, { token: chat.own.admin });
    const before = ledger.arrived;
    await until(() => ledger.arrived > before + 20);
    const file = join(folder.path, `${to}.usher`);
    await exportFrom({ address: source.database.address, dataDir: source.dataDir }, { id, file });
    await importInto({ address: target.database.address, dataDir: target.dataDir }, file);
    await proxy.lead(0, to);
    // As `usher accounts disable`: readers of feeds follow.
    await source.database.sql.begin(async (sql) => {
      await sql`SELECT set_config('usher.passes_fence', 'on', true)`;
      await sql`UPDATE accounts SET disabled_at = now() WHERE id = ${id}`;
    });
    await feed.ended;
    const again = await openFeed(chat.server, { token: chat.own.admin, lastId: feed.lastId() });
    // Positions are those of an installation: the reader learns that something may be missing.
    await again.untilType('feed.reset');
    await sendText(chat, chat.visitor, `moved ${to}`);
    await again.until(isMessage(`moved ${to}`));
    assert.ok(contents(again).length > 0);
    await again.close();
  }
  isOver.abort();
  const acknowledged = await load;
  assert.ok((await beside).size > 0);
  await until(() => ledger.missing(acknowledged).length === 0);
  assert.deepEqual([ledger.repeated, ledger.overtaken], [0, []]);
  const unknown = await call({ url: proxy.urls[0]?.replace('127.0.0.1', 'localhost') ?? '' }, 'GET /readyz');
  assert.deepEqual([unknown.status, unknown.body], [404, 'No account has this host name.\n']);
});
