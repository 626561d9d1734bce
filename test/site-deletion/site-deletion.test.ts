import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { removeRemains } from '../../packages/server/src/site-deletion/remove-remains.ts';
import { openFeed } from '../support/people/feed.ts';
import {
  fileForm,
  filesOnDisk,
  uploadFile,
  startFileEngagement,
  type FileEngagement,
} from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

async function remove({ admin }: TestAccount, id: string, confirm?: string) {
  const query = confirm === undefined ? '' : `?${new URLSearchParams({ confirm }).toString()}`;
  return call(server, `DELETE /sites/${id}${query}`, { token: admin });
}

async function endTalk({ operator, engagement }: FileEngagement): Promise<void> {
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token: operator.token, body }), 200);
}

test('an empty site is deleted at once, and the audit log says by whom', async () => {
  const own = await makeAccount(server);
  const id = await makeSite(server, own, 'Gone soon');
  const manager = await makeOperator(server, own, [{ site_id: id, role: 'manager' }]);
  expectStatus(await call(server, `DELETE /sites/${id}`, { token: manager.token }), 403);
  const body = { assignments: [] };
  expectStatus(await call(server, `PATCH /operators/${manager.id}`, { token: own.admin, body }), 200);
  expectStatus(await remove(own, id), 204);
  expectStatus(await call(server, `GET /sites/${id}`, { token: own.admin }), 404);
  expectStatus(await remove(own, id), 404);
  const { sites } = expectStatus(await call(server, 'GET /sites', { token: own.admin }), 200).body;
  assert.deepEqual(
    sites.map((site: { id: string }) => site.id),
    [own.siteId],
  );
  // While sample data is being removed, nobody has a role on its site.
  const removed = await makeSite(server, own, 'Being removed');
  await server.database.sql`DELETE FROM operator_assignments WHERE site_id = ${removed}`;
  await until(async () => (await call(server, `GET /sites/${removed}`, { token: own.admin })).status === 404);
  const log = await call(server, 'GET /audit_log?action=site.delete', { token: own.admin });
  const [entry] = expectStatus(log, 200).body.audit_log;
  assert.deepEqual([entry.target.id, entry.target.name, entry.actor.id], [id, 'Gone soon', own.adminId]);
});

test('the last site and the site of sample data cannot be deleted', async () => {
  const own = await makeAccount(server);
  assert.equal(expectStatus(await remove(own, own.siteId, 'First site'), 409).body.error, 'last_site');
  const sample = expectStatus(await call(server, 'POST /sample_data', { token: own.admin }), 201).body;
  assert.equal(expectStatus(await remove(own, sample.site_id), 409).body.error, 'sample_site');
  assert.equal(expectStatus(await remove(own, own.siteId, 'First site'), 409).body.error, 'last_site');
  expectStatus(await call(server, 'DELETE /sample_data', { token: own.admin }), 202);
});

test('a site with waiting visitors or conversations is kept; afterwards it is deleted with everything if its name is sent', async () => {
  const other = await startTestServer({}, server.database.address);
  const receiver = await startReceiver();
  try {
    const own = await makeAccount(server);
    const stays = await makeSite(server, own, 'Stays');
    const talk = await startFileEngagement(server, own);
    await uploadFile(server, talk, fileForm('hello'));
    const { header } = await makeApplicationToken(server, own, 'publishable');
    await makeTeam(server, own, own.siteId);
    const [queue] = (await call(server, `GET /queues?site_ids[]=${own.siteId}`, { token: own.admin })).body.queues;
    const fallback = await makeQueue(server, { ...own, siteId: stays }, { fallback_queue_id: queue.id });
    // The receiver has not answered the first event yet, so the second one waits.
    const answers: (() => void)[] = [];
    receiver.answer = () => (_request, response) => answers.push(() => response.writeHead(200).end());
    const hook = await makeWebhook(server, own, {
      url: receiver.url,
      events: ['engagement.chat.message', 'engagement.end'],
      site_ids: [own.siteId],
    });

    const busy = expectStatus(await remove(own, own.siteId, 'First site'), 409).body;
    assert.deepEqual([busy.error, busy.details], ['site_busy', [{ attribute: '/active_engagements', detail: '1' }]]);
    const message = `/engagements/${talk.engagement}/chat_messages/${randomUUID()}`;
    expectStatus(await call(server, `PUT ${message}`, { token: talk.visitor.token, body: { content: 'Hi' } }), 200);
    await until(() => answers.length > 0);
    await endTalk(talk);
    const { id: ticket, visitor } = await enqueue(server, own, queue.id);
    assert.equal(expectStatus(await remove(own, own.siteId, 'First site'), 409).body.error, 'site_busy');
    const cancel = { token: visitor.token, body: { action: 'cancel' } };
    expectStatus(await call(server, `PATCH /queue_tickets/${ticket}`, cancel), 200);

    const { error, details } = expectStatus(await remove(own, own.siteId), 409).body;
    assert.equal(error, 'site_not_empty');
    const counts = new Map(
      details.map(({ attribute, detail }: { attribute: string; detail: string }) => [attribute, detail]),
    );
    assert.deepEqual(
      counts,
      new Map([
        ['/operators', '1'],
        ['/teams', '1'],
        ['/queues', '1'],
        ['/fallbacks', '1'],
        ['/application_tokens', '1'],
        ['/webhooks', '1'],
        ['/visitors', '2'],
        ['/engagements', '1'],
      ]),
    );
    assert.equal(expectStatus(await remove(own, own.siteId, 'first site'), 422).body.details[0].attribute, '/confirm');
    const asVisitor = async () => call(other, `GET /engagements/${talk.engagement}`, { token: talk.visitor.token });
    expectStatus(await asVisitor(), 200);

    expectStatus(await remove(own, own.siteId, 'First site'), 204);
    // Also in a process that had them in its cache.
    await until(async () => (await asVisitor()).status === 401, 2_000);
    await until(async () => (await call(other, 'POST /visitors', { token: header })).status === 401, 2_000);
    for (const token of [own.admin, talk.operator.token])
      expectStatus(await call(server, `GET /engagements/${talk.engagement}`, { token }), 404);
    const left = expectStatus(await call(server, `GET /queues/${fallback}`, { token: own.admin }), 200).body;
    assert.equal(left.fallback_queue_id, null);
    const unbound = expectStatus(await call(server, `GET /webhooks/${hook.id}`, { token: own.admin }), 200).body;
    assert.deepEqual([unbound.site_ids, unbound.enabled], [[], true]);

    // Pending deliveries are still sent.
    receiver.answer = () => 200;
    for (const answer of answers) answer();
    await until(() => receiver.ofType('engagement.end').length > 0, 20_000);
  } finally {
    await receiver.close();
    await other[Symbol.asyncDispose]();
  }
});

test('the open feeds of a deleted site end or are reset at once, in every process', async () => {
  await using other = await startTestServer({}, server.database.address);
  const own = await makeAccount(server);
  const site = { ...own, siteId: await makeSite(server, own, 'Gone soon') };
  const follow = async (token: string, index = 0) => openFeed(index % 2 === 0 ? server : other, { token });
  // More than there are groups of heartbeats, each of which would find one of these feeds within 15 s.
  const visitors = await Promise.all(Array.from({ length: 32 }, async () => makeVisitor(server, site)));
  const cut = await Promise.all(visitors.map(async ({ token }, index) => follow(token, index)));
  const staff = await makeOperator(server, own, [{ site_id: site.siteId, role: 'manager' }]);
  const reset = await Promise.all([follow(staff.token), follow(staff.token, 1), follow(own.admin)]);
  const bystander = await follow((await makeVisitor(server, own)).token, 1);
  let open = cut.length;
  for (const { ended } of cut) void ended.then(() => (open -= 1));

  expectStatus(await remove(own, site.siteId, 'Gone soon'), 204);
  await until(() => open === 0, 3_000);
  for (const feed of reset) assert.equal((await feed.untilType('feed.reset')).data.reason, 'access_changed');
  await makeQueue(server, own);
  await bystander.untilType('queue.state');
  for (const feed of [...reset, bystander]) await feed.close();
});

test('when visitors join a queue during the deletion, they are refused or the site is kept', async () => {
  await using other = await startTestServer({}, server.database.address);
  const own = await makeAccount(server);
  for (let round = 0; round < 8; round += 1) {
    const site = { ...own, siteId: await makeSite(server, own, 'Raced') };
    const queue = await makeQueue(server, site, { when_unstaffed: 'accept' });
    const visitors = await Promise.all(Array.from({ length: 4 }, async () => makeVisitor(server, site)));
    const body = { site_id: site.siteId, media: 'text', queue_ids: [queue] };
    const [deleted, ...joined] = await Promise.all([
      remove(own, site.siteId, 'Raced'),
      ...visitors.map(async ({ token }, index) =>
        call(index % 2 === 0 ? server : other, 'POST /queue_tickets', { token, body }),
      ),
    ]);
    assert.ok([204, 409].includes(deleted.status), JSON.stringify(deleted.body));
    for (const { status, body: answer } of joined)
      assert.ok(status === 201 || (status >= 400 && status < 500), JSON.stringify(answer));
    const [active] = await server.database.sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM queue_tickets WHERE site_id = ${site.siteId} AND ended_at IS NULL`;
    const accepted = joined.filter(({ status }) => status === 201).length;
    assert.equal(active?.count, accepted, 'a ticket that was given still stands');
    assert.ok(deleted.status === 409 || accepted === 0, 'nobody waits on a site that is gone');
  }
});

test('the history of a deleted site is removed in batches, and nothing of other sites', async () => {
  const { sql } = server.database;
  const own = await makeAccount(server);
  const elsewhere: TestAccount = { ...own, siteId: await makeSite(server, own, 'Stays') };
  const kept = await startFileEngagement(server, elsewhere);
  await endTalk(kept);
  const talk = await startFileEngagement(server, own);
  const file = await uploadFile(server, talk, fileForm('hello'));
  await endTalk(talk);
  // A visitor who was engaged on the other site before.
  await sql`UPDATE visitors SET site_id = ${own.siteId} WHERE id = ${kept.visitor.id}`;
  expectStatus(await remove(own, own.siteId, 'First site'), 204);
  assert.ok(filesOnDisk(server.dataDir).includes(file));

  const log = createLog('silent');
  const disk = new FileDisk(server.dataDir, log);
  await removeRemains(sql, disk, () => false);
  const rows = async () =>
    sql<{ what: string; count: number }[]>`
      SELECT 'visitors' AS what, count(*)::int AS count FROM visitors WHERE site_id = ${own.siteId}
      UNION ALL SELECT 'engagements', count(*)::int FROM engagements WHERE site_id = ${own.siteId}
      UNION ALL SELECT 'tickets', count(*)::int FROM queue_tickets WHERE site_id = ${own.siteId}
      UNION ALL SELECT 'requests', count(*)::int FROM engagement_requests WHERE site_id = ${own.siteId}
      UNION ALL SELECT 'files', count(*)::int FROM files WHERE engagement_id = ${talk.engagement}
      UNION ALL SELECT 'visits', count(*)::int FROM queue_visits v JOIN deleted_queues q ON q.id = v.queue_id
                 WHERE q.site_id = ${own.siteId}`;
  assert.deepEqual(
    (await rows()).filter(({ count }) => count === 0),
    [],
  );
  for (let time = 0; time < 2; time += 1) await removeRemains(sql, disk, () => true);
  assert.deepEqual(
    (await rows()).filter(({ count }) => count > 0),
    [],
  );
  assert.ok(!filesOnDisk(server.dataDir).includes(file));
  const [marked] = await sql`SELECT 1 FROM deleted_sites WHERE id = ${own.siteId}`;
  assert.ok(marked !== undefined, 'a late visitor is still looked for');
  await sql`UPDATE deleted_sites SET deleted_at = now() - interval '2 hours' WHERE id = ${own.siteId}`;
  await removeRemains(sql, disk, () => true);
  assert.equal((await sql`SELECT 1 FROM deleted_sites WHERE id = ${own.siteId}`).length, 0);

  const seen = await call(server, `GET /engagements/${kept.engagement}`, { token: kept.visitor.token });
  assert.equal(expectStatus(seen, 200).body.site_id, elsewhere.siteId);
  const [events] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM events WHERE site_id = ${own.siteId}`;
  assert.ok((events?.count ?? 0) > 0, 'the log keeps what happened for as long as it is kept');
});
