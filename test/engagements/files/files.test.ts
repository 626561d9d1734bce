import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { readConfig } from '../../../packages/server/src/config.ts';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import { filesOfSender } from '../../../packages/server/src/engagements/files/store.ts';
import { sweepFiles } from '../../../packages/server/src/engagements/files/sweep.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import {
  fileForm,
  gif,
  listFiles,
  filesOnDisk,
  pathOnDisk,
  png,
  postFile,
  uploadFile,
  changeSite,
  startFileEngagement,
  type FileEngagement,
} from '../../support/people/files.ts';
import { forThisFile } from '../../support/fixture.ts';
import * as made from '../../support/people/picture-metadata.ts';
import { call, startTestServer, type Json } from '../../support/server.ts';
import {
  eventsOf,
  expectStatus,
  makeOperator,
  makeAvailableOperator,
  makeSite,
  makeVisitor,
} from '../../support/world.ts';

/** Who may upload and download which files; with no scanner, and with manual scans. */
const server = await forThisFile(startTestServer());
const manual = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));

const none = Buffer.alloc(0);

const get = async (talk: FileEngagement, id: string, token = talk.visitor.token, method = 'GET'): Promise<Response> =>
  fetch(`${server.url}${talk.path}/${id}`, { method, headers: { authorization: `Bearer ${token}` } });

test('either side uploads and downloads a file, with headers that keep browsers from running it', async () => {
  const talk = await startFileEngagement(server);
  const answer = expectStatus(await postFile(server, talk, fileForm(png, 'Café (1).png', 'image/png')), 200);
  assert.deepEqual(Object.keys(answer.body), ['file_id', 'security_scanning_required']);
  assert.equal(answer.body.security_scanning_required, false);
  const id: string = answer.body.file_id;
  for (const token of [talk.visitor.token, talk.operator.token, talk.account.admin]) {
    const got = await get(talk, id, token);
    assert.equal(got.status, 200);
    assert.deepEqual(new Uint8Array(await got.arrayBuffer()), png);
    const digest = createHash('sha256').update(png).digest('hex');
    const expected = {
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-disposition': `attachment; filename="Caf_ (1).png"; filename*=UTF-8''Caf%C3%A9%20%281%29.png`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      etag: `"${digest}"`,
    };
    for (const [header, value] of Object.entries(expected)) assert.equal(got.headers.get(header), value, header);
    assert.match(got.headers.get('content-security-policy') ?? '', /(?:^|; )sandbox$/);
  }
  const head = await get(talk, id, talk.visitor.token, 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(png.length)]);
  assert.equal((await head.arrayBuffer()).byteLength, 0);
  assert.deepEqual(await eventsOf(server, talk.account).then((events) => events.length), 1, 'no scan, no event');
});

test('pictures are stored without their metadata; size and ETag are those of what is stored', async () => {
  const talk = await startFileEngagement(server);
  const pictures = { jpeg: made.jpeg(1, none), png: made.png(1, none), webp: made.webp(1, none) };
  for (const [kind, { dirty, clean }] of Object.entries(pictures)) {
    const id = await uploadFile(server, talk, fileForm(Uint8Array.from(dirty), `photo.${kind}`, `image/${kind}`));
    const got = await get(talk, id);
    assert.equal(got.headers.get('content-type'), `image/${kind}`);
    assert.deepEqual(Buffer.from(await got.arrayBuffer()), clean);
    assert.equal(got.headers.get('content-length'), String(clean.length));
    assert.equal(got.headers.get('etag'), `"${createHash('sha256').update(clean).digest('hex')}"`);
  }
  const text = made.jpeg(1, none).dirty.toString('base64');
  const other = await uploadFile(server, talk, fileForm(text, 'photo.txt'));
  assert.equal(await (await get(talk, other)).text(), text, 'other files are stored as they are');
  const broken = Buffer.concat([made.jfif, Buffer.from('no picture')]);
  const noise = Uint8Array.from(Buffer.concat([Buffer.from([0xff, 0xd8]), broken]));
  const kept = await get(talk, await uploadFile(server, talk, fileForm(noise, 'broken.jpeg', 'image/jpeg')));
  assert.deepEqual(new Uint8Array(await kept.arrayBuffer()), noise, 'a damaged picture is stored as it is');
});

test('D10.10 the list shows the files and their senders, oldest first', async () => {
  const talk = await startFileEngagement(server);
  const first = await uploadFile(server, talk, fileForm('Hello', 'Žluťoučký kůň.txt'));
  const second = expectStatus(
    await postFile(server, talk, fileForm(gif, 'a.gif'), { token: talk.operator.token }),
    200,
  );
  const files = await listFiles(server, talk);
  const { created_at, ...rest } = files[0];
  assert.match(created_at, /Z$/);
  assert.deepEqual(rest, {
    id: first,
    engagement_id: talk.engagement,
    name: 'Žluťoučký kůň.txt',
    content_type: 'text/plain',
    bytes: 5,
    uploaded_by: 'visitor',
    uploader_id: talk.visitor.id,
    state: 'clean',
    scanned_at: null,
    deleted: false,
    deleted_at: null,
    deleted_by: null,
  });
  assert.deepEqual(
    [files[1].id, files[1].uploaded_by, files[1].uploader_id, files[1].content_type],
    [second.body.file_id, 'operator', talk.operator.id, 'image/gif'],
  );
  const got = await get(talk, first);
  assert.equal(got.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(got.headers.get('content-disposition') ?? '', /filename\*=UTF-8''%C5%BDlu%C5%A5ou/);
});

test('files are 404 for strangers; other operators of the site and earlier participants cannot upload', async () => {
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('Hello'));
  const other = await startFileEngagement(server);
  const sites = [{ site_id: talk.account.siteId, role: 'operator' }];
  const colleague = await makeOperator(server, talk.account, sites);
  const elsewhere = await makeOperator(server, talk.account, [
    { site_id: await makeSite(server, talk.account), role: 'super_manager' },
  ]);
  const another = await makeVisitor(server, talk.account);
  for (const { token } of [other.visitor, other.operator, elsewhere, another]) {
    assert.equal((await get(talk, id, token)).status, 404);
    expectStatus(await call(server, `GET ${talk.path}`, { token }), 404);
    expectStatus(await postFile(server, talk, fileForm('x'), { token }), 404);
  }
  assert.equal((await get(talk, id, colleague.token)).status, 403);
  expectStatus(await postFile(server, talk, fileForm('x'), { token: colleague.token }), 403);
  expectStatus(await postFile(server, talk, fileForm('x'), { token: talk.account.admin }), 403);
  // A file is found only in its own engagement.
  const same = await startFileEngagement(server, talk.account);
  assert.equal((await get(same, id)).status, 404);
  assert.equal((await get(talk, randomUUID())).status, 404);
  assert.equal((await get(talk, 'nonsense')).status, 404);

  const second = await makeAvailableOperator(server, talk.account);
  const body = { engagement_id: talk.engagement, operator_id: second.id };
  const requested = expectStatus(
    await call(server, 'POST /transfer_requests', { token: talk.operator.token, body }),
    201,
  );
  const accept = { token: second.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${requested.body.id}`, accept), 200);
  expectStatus(await postFile(server, talk, fileForm('x'), { token: talk.operator.token }), 403);
  assert.equal((await get(talk, id, talk.operator.token)).status, 200, 'who took part may still read');
  expectStatus(await postFile(server, talk, fileForm('x'), { token: second.token }), 200);

  const before = filesOnDisk(server.dataDir);
  const end = { token: talk.visitor.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${talk.engagement}`, end), 200);
  const late = expectStatus(await postFile(server, talk, fileForm('x')), 409);
  assert.equal(late.body.error, 'engagement_ended');
  assert.equal((await get(talk, id)).status, 200);
  assert.deepEqual(filesOnDisk(server.dataDir), before, 'nothing is left of what was refused');
});

test('the site decides who may upload, and which types', async () => {
  const talk = await startFileEngagement(server);
  await changeSite(server, talk.account, { allowed_file_senders: { operator: true, visitor: false } });
  const refused = expectStatus(await postFile(server, talk, fileForm('x')), 403);
  assert.match(refused.body.detail, /does not allow files from visitors/);
  expectStatus(await postFile(server, talk, fileForm('x'), { token: talk.operator.token }), 200);
  await changeSite(server, talk.account, { allowed_file_senders: null, allowed_file_content_types: ['image/*'] });
  const text = expectStatus(await postFile(server, talk, fileForm('x')), 422);
  assert.deepEqual(text.body.details, [
    { attribute: '/content', detail: 'is of type text/plain, by its bytes and name; the site allows image/*' },
  ]);
  expectStatus(await postFile(server, talk, fileForm(png, 'x')), 200);
  await changeSite(server, talk.account, { allowed_file_content_types: [] });
  expectStatus(await postFile(server, talk, fileForm(png, 'x')), 422);
});

test('with an Idempotency-Key the same file is stored once, and another file under the key is refused', async () => {
  const talk = await startFileEngagement(server);
  const headers = { 'idempotency-key': randomUUID() };
  const before = filesOnDisk(server.dataDir).length;
  const [one, two] = await Promise.all([
    postFile(server, talk, fileForm('same'), { headers }),
    postFile(server, talk, fileForm('same'), { headers }),
  ]);
  assert.equal(expectStatus(one, 200).body.file_id, expectStatus(two, 200).body.file_id);
  const other = expectStatus(await postFile(server, talk, fileForm('other'), { headers }), 422);
  assert.equal(other.body.error, 'idempotency_key_reused');
  expectStatus(await postFile(server, talk, fileForm('x'), { headers: { 'idempotency-key': 'a b' } }), 400);
  assert.equal((await listFiles(server, talk)).length, 1);
  assert.equal(filesOnDisk(server.dataDir).length, before + 1);

  const end = { token: talk.visitor.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${talk.engagement}`, end), 200);
  const again = expectStatus(await postFile(server, talk, fileForm('same'), { headers }), 200);
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [one.body, 'true']);
  const late = expectStatus(
    await postFile(server, talk, fileForm('same'), { headers: { 'idempotency-key': 'new' } }),
    409,
  );
  assert.equal(late.body.error, 'engagement_ended');
  assert.equal(filesOnDisk(server.dataDir).length, before + 1);
});

test('D10.6 an engagement has at most 100 files, also with concurrent uploads', async () => {
  const talk = await startFileEngagement(server);
  await server.database.sql`
    INSERT INTO files (id, account_id, engagement_id, uploaded_by, uploader_id, name, content_type, bytes, sha256, state,
                       scan_due_at, created_at)
    SELECT gen_random_uuid(), account_id, id, 'visitor', visitor_id, 'x', 'text/plain', 1, ${Buffer.alloc(32)}, 'clean',
           now(), now()
      FROM engagements, generate_series(1, 97) WHERE id = ${talk.engagement}`;
  const answers = await Promise.all(Array.from({ length: 8 }, async () => postFile(server, talk, fileForm('x'))));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 200, 409, 409, 409, 409, 409],
  );
  assert.ok(answers.every(({ status, body }) => status === 200 || body.error === 'too_many'));
  assert.equal((await listFiles(server, talk)).length, 100);
});

test('D10.7 with manual scans, pending files cannot be downloaded, a result sends one event, and infected bytes are removed', async () => {
  const talk = await startFileEngagement(manual);
  const clean = await uploadFile(manual, talk, fileForm('good'));
  const infected = await uploadFile(manual, talk, fileForm('bad'));
  const read = async (id: string) => call(manual, `GET ${talk.path}/${id}`, { token: talk.visitor.token });
  const say = async (id: string, result: string, token = talk.account.admin) =>
    call(manual, `PUT /files/${id}/security_scan`, { token, body: { result } });
  const pending = expectStatus(await read(clean), 409).body;
  assert.deepEqual([pending.error, pending.details], ['file_not_clean', [{ attribute: '/state', detail: 'pending' }]]);
  expectStatus(await say(clean, 'clean', talk.operator.token), 403);
  expectStatus(await say(clean, 'clean', talk.visitor.token), 403);
  expectStatus(await say(clean, 'clean', (await startFileEngagement(manual)).account.admin), 404);
  expectStatus(await say(clean, 'doubtful'), 422);
  expectStatus(await say(randomUUID(), 'clean'), 404);

  const recorded = expectStatus(await say(clean, 'clean'), 200).body;
  assert.deepEqual([recorded.id, recorded.state], [clean, 'clean']);
  assert.ok(Date.parse(recorded.scanned_at) > 0);
  assert.deepEqual(expectStatus(await say(clean, 'clean'), 200).body, recorded);
  assert.equal(expectStatus(await say(clean, 'infected'), 409).body.error, 'already_scanned');
  assert.equal(expectStatus(await read(clean), 200).body, 'good');

  assert.ok(filesOnDisk(manual.dataDir).includes(infected));
  expectStatus(await say(infected, 'infected'), 200);
  assert.ok(!filesOnDisk(manual.dataDir).includes(infected), 'the bytes are gone');
  assert.deepEqual(expectStatus(await read(infected), 409).body.details, [{ attribute: '/state', detail: 'infected' }]);
  const states = (await listFiles(manual, talk)).map(({ state }: Json) => state);
  assert.deepEqual(states, ['clean', 'infected']);
  assert.deepEqual(
    (await eventsOf(manual, talk.account)).slice(1),
    [
      { file_id: clean, result: 'clean' },
      { file_id: infected, result: 'infected' },
    ].map((security_scan_result) => ({
      event_type: 'engagement.files.security_scan_result',
      security_scan_result,
    })),
  );
  const { body: metrics } = await call(manual, 'GET /metrics');
  assert.match(metrics, /^usher_file_scans_total\{result="infected"\} [1-9]/m);
  assert.match(metrics, /^usher_files_pending \d/m);
  assert.match(metrics, /^usher_files_pending_age_seconds [\d.]+$/m);
});

test('of two concurrent results, one is stored and sent', async () => {
  const talk = await startFileEngagement(manual);
  for (let round = 0; round < 10; round += 1) {
    const id = await uploadFile(manual, talk, fileForm(`file ${round}`));
    const answers = await Promise.all(
      ['clean', 'infected', 'clean', 'infected'].map(async (result) => ({
        result,
        ...(await call(manual, `PUT /files/${id}/security_scan`, { token: talk.account.admin, body: { result } })),
      })),
    );
    const { state } = (await listFiles(manual, talk)).at(-1);
    for (const { result, status } of answers) assert.equal(status, result === state ? 200 : 409);
    const scanEvents = (await eventsOf(manual, talk.account)).filter(
      (event) => event.security_scan_result?.file_id === id,
    );
    assert.deepEqual(scanEvents, [
      { event_type: 'engagement.files.security_scan_result', security_scan_result: { file_id: id, result: state } },
    ]);
  }
});

test('results are refused unless scans are manual; without a scanner setting, uploads are refused', async () => {
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('x'));
  const said = { token: talk.account.admin, body: { result: 'infected' } };
  assert.equal(
    expectStatus(await call(server, `PUT /files/${id}/security_scan`, said), 409).body.error,
    'scan_not_manual',
  );
  assert.equal((await get(talk, id)).status, 200);
  await using unset = await startTestServer({ scanner: { kind: 'unset' } });
  const other = await startFileEngagement(unset);
  assert.equal(expectStatus(await postFile(unset, other, fileForm('x')), 503).body.error, 'no_scanner');
  assert.deepEqual(filesOnDisk(unset.dataDir), []);
});

test('USHER_SCANNER selects the scanner; the default depends on the database', () => {
  const chosen = (environment: Record<string, string>) => readConfig(environment).scanner;
  const DATABASE_URL = 'postgres://u@h/d';
  assert.deepEqual(chosen({}), { kind: 'none' });
  assert.deepEqual(chosen({ DATABASE_URL }), { kind: 'unset' });
  assert.deepEqual(chosen({ DATABASE_URL, USHER_SCANNER: 'none' }), { kind: 'none' });
  assert.deepEqual(chosen({ USHER_SCANNER: 'manual' }), { kind: 'manual' });
  assert.deepEqual(chosen({ USHER_SCANNER: 'clamd://scan.local' }), { kind: 'clamd', host: 'scan.local', port: 3310 });
  assert.deepEqual(chosen({ USHER_SCANNER: 'clamd://[::1]:99' }), { kind: 'clamd', host: '::1', port: 99 });
});

test('a message finds only files of its side in its engagement', async () => {
  const talk = await startFileEngagement(manual);
  const other = await startFileEngagement(manual);
  const mine = await uploadFile(manual, talk, fileForm('mine'));
  const theirs = await postFile(manual, talk, fileForm('theirs'), { token: talk.operator.token });
  const foreign = await uploadFile(manual, other, fileForm('foreign'));
  const ids = [mine, theirs.body.file_id, foreign, randomUUID()];
  const find = async (sender: 'visitor' | 'operator') =>
    filesOfSender(manual.database.sql, { engagementId: talk.engagement, ids, sender });
  const row = { state: 'pending', deleted: false };
  assert.deepEqual([...(await find('visitor'))], [{ id: mine, ...row }]);
  assert.deepEqual([...(await find('operator'))], [{ id: theirs.body.file_id, ...row }]);
});

test('a file whose bytes are on another machine is 503, not 404', async () => {
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('x'));
  rmSync(pathOnDisk(server.dataDir, id));
  const answer = await call(server, `GET ${talk.path}/${id}`, { token: talk.visitor.token });
  assert.equal(expectStatus(answer, 503).body.error, 'file_elsewhere');
});

test('only the owner can read files and their folders', async () => {
  const talk = await startFileEngagement(server);
  const path = pathOnDisk(server.dataDir, await uploadFile(server, talk, fileForm('x')));
  assert.equal(readFileSync(path, 'utf8'), 'x');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
});

test('the sweep removes leftovers of crashes: files without a row after an hour, marks, infected bytes', async () => {
  const talk = await startFileEngagement(manual);
  const { sql } = manual.database;
  const disk = new FileDisk(manual.dataDir, createLog('silent'));
  const lost = randomUUID() as never;
  const partial = randomUUID() as never;
  const young = randomUUID() as never;
  for (const id of [lost, partial, young]) {
    await disk.begin(id);
    await pipeline(Readable.from(['left']), disk.write(id));
  }
  await disk.keep(lost);
  const known = (await uploadFile(manual, talk, fileForm('known'))) as never;
  await disk.begin(known);
  const infected = await uploadFile(manual, talk, fileForm('infected'));
  await sql`UPDATE files SET state = 'infected', scanned_at = now() WHERE id = ${infected}`;
  const hourAgo = Date.now() / 1000 - 3_601;
  for (const id of [lost, partial, known]) utimesSync(join(manual.dataDir, 'files/incoming', id), hourAgo, hourAgo);

  await sweepFiles(sql, disk, new Date(), () => true);
  const left = filesOnDisk(manual.dataDir);
  for (const gone of [lost, partial, infected]) assert.ok(!left.some((name) => name.startsWith(gone)), gone);
  assert.ok(left.includes(`${String(young)}.part`), 'what may still be coming stays');
  assert.deepEqual(
    left.filter((name) => name === known),
    [known],
    'the file stays, its mark goes',
  );
  const [row] = await sql`SELECT stored FROM files WHERE id = ${infected}`;
  assert.equal(row?.['stored'], false);
});
