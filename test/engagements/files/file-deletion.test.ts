import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import { sweepFiles } from '../../../packages/server/src/engagements/files/sweep.ts';
import { inTransaction } from '../../../packages/server/src/platform/database/database.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { assertDeclared } from '../../support/api/declared-items.ts';
import { openFeed } from '../../support/people/feed.ts';
import {
  fileForm,
  listFiles,
  filesOnDisk,
  postFile,
  uploadFile,
  startFileEngagement,
  type FileEngagement,
} from '../../support/people/files.ts';
import { forThisFile } from '../../support/fixture.ts';
import { call, startTestServer, until, type Answer, type Json } from '../../support/server.ts';
import { eventsOf, expectStatus, makeOperator, makeVisitor } from '../../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'none' } }));
const manual = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));

const remove = async ({ path }: FileEngagement, id: string, token: string, at = server): Promise<Answer> =>
  call(at, `DELETE ${path}/${id}`, { token });
const download = async ({ path, visitor }: FileEngagement, id: string, token = visitor.token): Promise<Answer> =>
  call(server, `GET ${path}/${id}`, { token });

async function sayWith(talk: FileEngagement, ids: readonly string[], token = talk.visitor.token): Promise<Answer> {
  const body = { content: '', attachment: { type: 'files', files: ids.map((id) => ({ id })) } };
  return call(server, `PUT /engagements/${talk.engagement}/chat_messages/${crypto.randomUUID()}`, { token, body });
}

async function shownFiles({ engagement, operator }: FileEngagement): Promise<[string, boolean][][]> {
  const answer = await call(server, `GET /engagements/${engagement}/chat_transcript`, { token: operator.token });
  return expectStatus(answer, 200).body.map(({ attachment }: Json) =>
    attachment.files.map(({ url, deleted }: Json) => [url.slice(-36), deleted]),
  );
}

const end = async ({ engagement, operator }: FileEngagement): Promise<Answer> =>
  call(server, `PATCH /engagements/${engagement}`, { token: operator.token, body: { action: 'end' } });

test('deleting a file removes its bytes, downloads answer 410, messages show it as deleted, and a repetition has no effect', async () => {
  const talk = await startFileEngagement(server);
  const [one, other] = [
    await uploadFile(server, talk, fileForm('one')),
    await uploadFile(server, talk, fileForm('other')),
  ];
  expectStatus(await sayWith(talk, [other, one]), 200);
  expectStatus(await sayWith(talk, [one]), 200);
  await using feed = await openFeed(server, { token: talk.operator.token });
  for (let times = 0; times < 2; times += 1) {
    const answer = expectStatus(await remove(talk, one, talk.visitor.token), 204);
    assert.equal(answer.headers.get('content-length'), null);
  }
  assert.deepEqual(await shownFiles(talk), [
    [
      [other, false],
      [one, true],
    ],
    [[one, true]],
  ]);
  assert.ok(!filesOnDisk(server.dataDir).includes(one), 'its bytes are gone');
  assert.ok(filesOnDisk(server.dataDir).includes(other));
  assert.equal(expectStatus(await download(talk, one), 410).body.error, 'file_deleted');
  expectStatus(await download(talk, one, talk.account.admin), 410);
  expectStatus(await download(talk, other), 200);
  const [file] = await listFiles(server, talk);
  assert.deepEqual([file.id, file.deleted, file.deleted_by], [one, true, 'visitor']);
  const item = await feed.untilType('file.state');
  assert.deepEqual(item.data, file, 'the feed has it as the list shows it');
  assert.equal(feed.items.filter(({ type }) => type === 'file.state').length, 1);
  // Earlier events are not sent again.
  const events = await eventsOf(server, talk.account);
  assert.deepEqual(
    events.flatMap(({ message }) => message?.attachment?.files?.map(({ deleted }: Json) => deleted) ?? []),
    [false, false, false],
  );
  assertDeclared(feed.items);
});

test('D10.8 a file is deleted by the side that sent it during the engagement, by a manager at any time, and by nobody else', async () => {
  const talk = await startFileEngagement(server);
  const { account, operator, visitor } = talk;
  const byVisitor = await uploadFile(server, talk, fileForm('visitor'));
  const { file_id: byOperator } = expectStatus(
    await postFile(server, talk, fileForm('operator'), { token: operator.token }),
    200,
  ).body;
  const on = async (role: string): Promise<string> =>
    (await makeOperator(server, account, [{ site_id: account.siteId, role }])).token;
  const [colleague, manager] = [await on('operator'), await on('manager')];
  const stranger = await startFileEngagement(server);
  const another = await makeVisitor(server, account);
  for (const [token, file, status] of [
    [operator.token, byVisitor, 403],
    [visitor.token, byOperator, 403],
    [colleague, byOperator, 403],
    [another.token, byVisitor, 404],
    [stranger.visitor.token, byVisitor, 404],
    [stranger.operator.token, byVisitor, 404],
    [stranger.account.admin, byVisitor, 404],
    [visitor.token, crypto.randomUUID(), 404],
    [manager, crypto.randomUUID(), 404],
  ] as const)
    expectStatus(await remove(talk, file, token), status);
  // A file is found only in its own engagement.
  expectStatus(await remove(await startFileEngagement(server, account), byVisitor, manager), 404);
  expectStatus(await remove(talk, byOperator, operator.token), 204);
  expectStatus(await end(talk), 200);
  assert.equal(expectStatus(await remove(talk, byVisitor, visitor.token), 409).body.error, 'engagement_ended');
  expectStatus(await remove(talk, byOperator, operator.token), 204);
  expectStatus(await download(talk, byVisitor), 200);
  expectStatus(await remove(talk, byVisitor, manager), 204);
  expectStatus(await download(talk, byVisitor), 410);
  expectStatus(await remove(talk, byVisitor, visitor.token), 204);
});

test('a deletion by a manager or a visitor is in the audit log once', async () => {
  const talk = await startFileEngagement(server);
  for (const [token, type] of [
    [talk.account.admin, 'operator'],
    [talk.visitor.token, 'visitor'],
  ] as const) {
    const id = await uploadFile(server, talk, fileForm('Hello', 'private.txt'));
    for (let times = 0; times < 2; times += 1) expectStatus(await remove(talk, id, token), 204);
    const log = await call(server, `GET /audit_log?target_id=${id}`, { token: talk.account.admin });
    const entries = expectStatus(log, 200).body.audit_log;
    assert.deepEqual(
      entries.map(({ actor, action, target, changes }: Json) => [actor.type, action, target.id, target.name, changes]),
      [[type, 'file.delete', id, null, [{ field: 'deleted', before: false, after: true }]]],
    );
    if (type === 'visitor') assert.deepEqual(entries[0].actor, { type, id: talk.visitor.id, name: '' });
  }
});

test('a deleted file cannot be sent and is not scanned', async () => {
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('Hello'));
  expectStatus(await remove(talk, id, talk.visitor.token), 204);
  const refused = expectStatus(await sayWith(talk, [id]), 409).body;
  assert.deepEqual([refused.error, refused.details[0].detail], ['file_not_clean', 'deleted']);

  const scanned = await startFileEngagement(manual);
  const { admin: token, siteId } = scanned.account;
  const pending = await uploadFile(manual, scanned, fileForm('Hello'));
  expectStatus(await remove(scanned, pending, scanned.visitor.token, manual), 204);
  const waiting = await call(manual, `GET /files?site_ids[]=${siteId}&state=pending`, { token });
  assert.deepEqual(expectStatus(waiting, 200).body.files, []);
  const body = { result: 'infected' };
  expectStatus(await call(manual, `PUT /files/${pending}/security_scan`, { token, body }), 410);
  const types = (await eventsOf(manual, scanned.account)).map(({ event_type: type }) => type);
  assert.deepEqual(types, ['engagement.start']);
});

test('the sweep removes the bytes of a deleted file if the process died before it could', async () => {
  const talk = await startFileEngagement(server);
  const { sql } = server.database;
  const id = await uploadFile(server, talk, fileForm('Hello'));
  await sql`UPDATE files SET deleted_at = now(), deleted_by = 'operator' WHERE id = ${id}`;
  assert.ok(filesOnDisk(server.dataDir).includes(id));
  expectStatus(await download(talk, id), 410);
  await sweepFiles(sql, new FileDisk(server.dataDir, createLog('silent')), new Date(), () => true);
  assert.ok(!filesOnDisk(server.dataDir).includes(id));
  const [row] = await sql`SELECT stored FROM files WHERE id = ${id}`;
  assert.equal(row?.['stored'], false);
});

/** Whether a statement with this text waits for a lock. */
async function isWaiting(text: string): Promise<boolean> {
  const [row] = await server.database.sql<{ found: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
                      AND position(${text} IN query) > 0) AS found`;
  return row?.found ?? false;
}

test('a message that names a file during its deletion waits for the deletion and is refused', async () => {
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('Hello'));
  const { deletion, message } = await inTransaction(server.database.sql, async (sql) => {
    await sql`SELECT 1 FROM engagements WHERE id = ${talk.engagement} FOR NO KEY UPDATE`;
    const removed = remove(talk, id, talk.account.admin);
    await until(async () => isWaiting('FROM engagements WHERE id'));
    const said = sayWith(talk, [id]);
    await until(async () => isWaiting('FOR SHARE OF f'));
    return { deletion: removed, message: said };
  });
  expectStatus(await deletion, 204);
  assert.equal(expectStatus(await message, 409).body.details[0].detail, 'deleted');
  assert.deepEqual(await shownFiles(talk), []);
});

test('when messages race with a deletion, every accepted message shows the file as deleted', async () => {
  let talk = await startFileEngagement(server);
  const rounds = process.env['PROVE'] === undefined ? 12 : 300;
  for (let round = 0; round < rounds; round += 1) {
    // An engagement can have at most 100 files.
    if (round % 50 === 49) talk = await startFileEngagement(server);
    const id = await uploadFile(server, talk, fileForm(`${round}`));
    const by = round % 2 === 0 ? talk.visitor.token : talk.account.admin;
    const [first, removed, second] = await Promise.all([
      sayWith(talk, [id]),
      remove(talk, id, by),
      sayWith(talk, [id]),
    ]);
    expectStatus(removed, 204);
    const taken = [first, second].filter(({ status }) => status === 200).length;
    const refused = [first, second].filter(({ status }) => status === 409).length;
    assert.equal(taken + refused, 2, `${first.status} ${second.status}`);
    const shown = (await shownFiles(talk)).flat().filter(([file]) => file === id);
    assert.deepEqual(
      shown,
      Array.from({ length: taken }, () => [id, true]),
      `round ${round}`,
    );
  }
});
