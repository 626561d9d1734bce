import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { withSql } from '../support/database/backup.ts';
import { say, sendText, transcript } from '../support/people/chat.ts';
import { fileForm, uploadFile } from '../support/people/files.ts';
import { accountOf, exportFrom, importInto } from '../support/account-move.ts';
import { startProxy } from '../support/network/proxy.ts';
import { OrderLedger, openEngagements, startLedgerReceiver, writeInOrder } from '../support/receivers/ordered-load.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus, requestTicket } from '../support/world.ts';

const hookable = { webhookAllowCidrs: ['127.0.0.0/8'], scanner: { kind: 'none' } } as const;
const type = 'engagement.chat.message';
/** Messages that are delivered before and after the move. `npm run prove` runs the long form. */
const messages = process.env['PROVE'] === undefined ? 100 : 5_000;
/** The load ends with the move; this ends it if the move hangs. */
const maxSeconds = 240;

test('an account moves to another installation under load: nothing acknowledged is lost, repeated or reordered', async (t) => {
  const folder = temporaryDirectory();
  t.after(() => folder.remove());
  await using source = await startTestServer(hookable);
  await using second = await startTestServer(hookable, source.database.address);
  await using target = await startTestServer(hookable);
  const ledger = new OrderLedger();
  const receiver = await startLedgerReceiver(ledger, 5);
  t.after(async () => receiver.close());

  const engagements = await openEngagements(source, 4);
  const [chat, beside] = engagements;
  assert.ok(chat !== undefined && beside !== undefined);
  await makeWebhook(source, chat.own, { url: receiver.url, events: [type] });
  const bytes = randomBytes(300_000).toString('hex');
  const talk = {
    account: chat.own,
    operator: chat.operator,
    visitor: chat.visitor,
    engagement: chat.id,
    path: `/engagements/${chat.id}/files`,
  };
  const fileId = await uploadFile(source, talk, fileForm(bytes));
  const waiting = await requestTicket(source, chat.own, { queue_ids: [chat.queue] });
  expectStatus(waiting, 201);

  // Every writer asks one address, which leads to the source and later to the target.
  const leadsTo = { url: source.url };
  await using proxy = await startProxy(leadsTo);
  const moved = engagements.map((engaged) => ({ ...engaged, server: { ...engaged.server, url: proxy.url } }));
  const isOver = new AbortController();
  const load = writeInOrder(moved, { seconds: maxSeconds, perSecond: 200, retry: true, signal: isOver.signal });
  // Another account of each installation goes on throughout.
  const others = await Promise.all([openEngagements(second, 2), openEngagements(target, 2)]);
  const otherLoad = writeInOrder(others.flat(), { seconds: maxSeconds, perSecond: 50, signal: isOver.signal });

  await until(() => ledger.arrived > messages);
  const file = join(folder.path, 'account.usher');
  const id = await accountOf(source, chat.own.siteId);
  const from = { address: source.database.address, dataDir: source.dataDir };
  const summary = await exportFrom(from, { id, file });
  assert.equal(summary.files, 1);
  const refused = await say({ ...chat, server: source }, chat.visitor, 'too late');
  assert.equal(refused.status, 503);
  assert.equal(refused.body.error, 'account_moving');
  assert.ok(refused.headers.has('retry-after'));
  const imported = await importInto({ address: target.database.address, dataDir: target.dataDir }, file);
  leadsTo.url = target.url;
  proxy.cut();
  const before = ledger.arrived;
  await until(() => ledger.arrived > before + messages);
  isOver.abort();
  const acknowledged = await load;
  const besideAcknowledged = await otherLoad;
  assert.ok(besideAcknowledged.size > 0);
  t.diagnostic(`${acknowledged.size} messages were acknowledged; the account was stopped for ${imported.awayMs} ms`);

  await until(() => ledger.missing(acknowledged).length === 0);
  assert.equal(ledger.repeated, 0);
  assert.deepEqual(ledger.overtaken, []);
  for (const engaged of moved) {
    const contents = (await transcript(engaged, engaged.operator)).map(({ content }) => content).filter(isOfLoad);
    assert.equal(new Set(contents).size, contents.length);
  }
  // Everything goes on there: the conversation, the file, the waiting visitor, new events after old ones.
  const download = await call(target, `GET /engagements/${chat.id}/files/${fileId}`, { token: chat.visitor.token });
  assert.ok(download.status === 200 && String(download.body).includes(bytes), `${download.status}`);
  const ticket = await call(target, `GET /queue_tickets/${waiting.body.id}`, { token: waiting.visitor.token });
  assert.equal(ticket.body.state, 'waiting');
  await sendText({ ...chat, server: target }, chat.visitor, 'afterwards');
  await until(() => ledger.missing(['afterwards']).length === 0);
  const { body: log } = await call(target, `GET /events?engagement_id=${chat.id}&event_type[]=${type}&per_page=100`, {
    token: chat.own.admin,
  });
  assert.ok(log.events.length > 0);

  // Nothing of the account happens at the source any more.
  const leases = await withSql(
    source.database.address,
    async (sql) => sql`SELECT FROM destinations WHERE account_id = ${id} AND owner IS NOT NULL`,
  );
  assert.equal(leases.length, 0);
});

function isOfLoad(content: unknown): boolean {
  return typeof content === 'string' && /^\d+ \d+$/.test(content);
}
