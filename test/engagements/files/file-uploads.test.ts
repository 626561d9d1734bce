import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import { sweepFiles } from '../../../packages/server/src/engagements/files/sweep.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { serverProgram } from '../../../scripts/built.mjs';
import { startCluster, urlOf } from '../../support/processes/cluster.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import {
  fileForm,
  gif,
  listFiles,
  filesOnDisk,
  png,
  postFile,
  changeSite,
  slowUpload,
  startFileEngagement,
} from '../../support/people/files.ts';
import { forThisFile } from '../../support/fixture.ts';
import { freePort } from '../../support/network/free-port.ts';
import { temporaryDirectory, UsherProcess } from '../../support/processes/process.ts';
import { call, startTestServer, until, type Answer, type Json } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus, makeAccount } from '../../support/world.ts';

/** Malformed uploads and faults during an upload. Neither leaves anything behind. */
const server = await forThisFile(startTestServer());
const talk = await startFileEngagement(server);

const mebibyte = 1024 * 1024;
const most = 25 * mebibyte;

/** Sends a body unchanged. */
async function raw(body: string, type = 'multipart/form-data; boundary=edge'): Promise<Answer> {
  return call(server, `POST ${talk.path}`, { token: talk.visitor.token, body, headers: { 'content-type': type } });
}

const part = (headers: string, content = 'x'): string =>
  `--edge\r\ncontent-disposition: ${headers}\r\n\r\n${content}\r\n`;
const file = 'form-data; name="content"; filename="a.txt"';

const wrongForms: readonly [what: string, body: string, status: number, says: RegExp][] = [
  ['no parts', '--edge--\r\n', 422, /\/content is required: a part with a file name/],
  ['no file name', `${part('form-data; name="content"')}--edge--`, 422, /\/content must be sent with a file name/],
  ['an empty file name', `${part('form-data; name="content"; filename=""')}--edge--`, 422, /with a file name/],
  ['another part', `${part('form-data; name="file"; filename="a"')}--edge--`, 422, /\/file is not a known part/],
  ['a field beside it', `${part(file)}${part('form-data; name="a/b"')}--edge--`, 422, /\/a~1b is not a known part/],
  ['two files', `${part(file)}${part(file)}--edge--`, 422, /\/content must be the only part/],
  ['an empty file', `${part(file, '')}--edge--`, 422, /\/content must not be empty/],
  ['many parts', `${part('form-data; name="a"').repeat(20)}--edge--`, 422, /more than 10 parts/],
  ['an encoding', `${part(`${file}\r\ncontent-transfer-encoding: base64`)}--edge--`, 422, /without a content-transfer/],
  ['no end', part(file), 400, /not well-formed/],
  ['half a part', '--edge\r\ncontent-dis', 400, /not well-formed/],
  ['a part without headers', '--edge\r\n\r\n--edge--\r\n', 400, /not well-formed/],
  ['headers that do not end, before a file', `--edge\r\na: b\r\n${part(file)}--edge--`, 400, /not well-formed/],
  ['headers that do not end, after a file', `${part(file)}--edge\r\na: b\r\n--edge--`, 400, /not well-formed/],
  ['no multipart at all', 'hello', 400, /not well-formed/],
  ['nothing', '', 400, /not well-formed/],
];
for (const [what, body, status, says] of wrongForms) {
  test(`a form with ${what} is refused`, async () => {
    const answer = expectStatus(await raw(body), status);
    assert.match(answer.body.detail, says);
    assert.deepEqual(filesOnDisk(server.dataDir), []);
    assert.deepEqual(await listFiles(server, talk), []);
  });
}

test('a body that is not multipart is 415, one without a boundary is 400', async () => {
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=a',
  ]) {
    const answer = expectStatus(await raw('{}', type), 415);
    assert.match(answer.body.detail, /multipart\/form-data/);
  }
  expectStatus(await call(server, `POST ${talk.path}`, { token: talk.visitor.token }), 415);
  expectStatus(await raw('x', 'multipart/form-data'), 400);
  expectStatus(await call(server, `POST ${talk.path}`, { body: fileForm('x') }), 401);
});

test('a file of 25 MiB is accepted, one byte more is refused', async () => {
  const own = await startFileEngagement(server);
  await changeSite(server, own.account, { allowed_file_content_types: ['application/octet-stream'] });
  const bytes = new Uint8Array(most + 1);
  const whole = await postFile(server, own, fileForm(bytes.subarray(0, most), 'zeros'));
  assert.equal((await listFiles(server, own))[0].id, expectStatus(whole, 200).body.file_id);
  const before = filesOnDisk(server.dataDir);
  const refused = expectStatus(await postFile(server, own, fileForm(bytes, 'zeros')), 413);
  assert.deepEqual(
    [refused.body.error, refused.body.detail],
    ['body_too_large', 'A file must not exceed 26214400 bytes (25 MiB).'],
  );
  // Without a content-length, and with many more bytes.
  const slow = slowUpload(server, own);
  slow.answer.catch(() => undefined);
  for (let sent = 0; sent <= most + mebibyte; sent += mebibyte) void slow.write(new Uint8Array(mebibyte));
  assert.equal((await slow.answer).status, 413);
  slow.cut();
  assert.equal(
    expectStatus(await postFile(server, own, fileForm(new Uint8Array(2 * most), 'zeros')), 413).body.error,
    'body_too_large',
  );
  assert.deepEqual(filesOnDisk(server.dataDir), before);
  const got = await fetch(`${server.url}${own.path}/${whole.body.file_id}`, {
    headers: { authorization: `Bearer ${own.visitor.token}` },
  });
  assert.equal((await got.arrayBuffer()).byteLength, most);
});

const text = (content: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(content));
const joined = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.concat(parts));
/** Content, name, declared type, and the detected type. */
const kinds: readonly [content: Uint8Array<ArrayBuffer>, name: string, declared: string, is: string][] = [
  [png, 'a.png', 'image/png', 'image/png'],
  [png, 'a.txt', 'text/plain', 'image/png'],
  [text('%PDF-1.7\n1 0 obj'), 'a', 'image/png', 'application/pdf'],
  [text('Hello, Žluť'), 'a', 'image/png', 'text/plain'],
  [text('BMW and GIF89a are text'), 'a.bmp', 'image/bmp', 'text/plain'],
  [text('GIF89a=1;alert(1)'), 'a.gif', 'image/gif', 'text/plain'],
  [text('a,b\n1,2\n'), 'a.csv', 'text/csv', 'text/csv'],
  [text('{"a":1}'), 'a.json', 'application/json', 'application/json'],
  [text('plain'), 'a', 'text/css', 'text/plain'],
  [text('<script>alert(1)</script>'), 'a.txt', 'text/plain', 'text/html'],
  [text('\ufeff \n\t<!-- hi --><HTML>'), 'a.csv', 'text/csv', 'text/html'],
  [text(`${' '.repeat(70_000)}<p>late`), 'a.png', 'image/png', 'text/html'],
  [text('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), 'a.png', 'image/png', 'image/svg+xml'],
  [text('<?xml version="1.0"?><!-- x --><svg/>'), 'a', 'text/plain', 'image/svg+xml'],
  [text('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'), 'a', 'text/plain', 'text/html'],
  [text('<?xml version="1.0"?><note/>'), 'a', 'text/plain', 'application/xml'],
  [text('hello <script>'), 'invoice.html', 'text/plain', 'text/html'],
  [text('hello <script>'), 'invoice.HTML. ', 'text/plain', 'text/html'],
  [joined(png, text('<script>alert(1)</script>')), 'picture.svg', 'image/png', 'image/svg+xml'],
  [joined(gif, text('<script>alert(1)</script>')), 'a.gif', 'text/html', 'image/gif'],
  [text('@echo off'), 'run.bat', 'text/plain', 'application/octet-stream'],
  [text('a\0b'), 'a.txt', 'text/plain', 'application/octet-stream'],
  [text('MZ\u0090\0\u0003\0'), 'a.txt', 'text/plain', 'application/x-msdownload'],
  [
    joined(Uint8Array.from([0xff, 0xfe]), Uint8Array.from(Buffer.from('<svg/>', 'utf16le'))),
    'a.txt',
    'text/plain',
    'application/octet-stream',
  ],
  [
    joined(Uint8Array.from([0xff, 0xfe]), Uint8Array.from(Buffer.from('<?xml version="1.0"?><svg/>', 'utf16le'))),
    'a',
    'text/plain',
    'application/octet-stream',
  ],
  [Uint8Array.from([0xc3, 0x28]), 'a.txt', 'text/plain', 'application/octet-stream'],
];

test('D10.5 the content type follows from bytes and name, never from the declared type', async () => {
  const own = await startFileEngagement(server);
  await changeSite(server, own.account, { allowed_file_content_types: ['image/*', 'text/*', 'Application/*'] });
  for (const [content, name, declared, is] of kinds) {
    const shown = `${name} ${declared} ${Buffer.from(content).toString('latin1').trim().slice(0, 40)}`;
    expectStatus(await postFile(server, own, fileForm(content, name, declared)), 200);
    assert.equal((await listFiles(server, own)).at(-1).content_type, is, shown);
  }
  await changeSite(server, own.account, { allowed_file_content_types: null });
  const before = filesOnDisk(server.dataDir);
  const taken = new Set(['image/png', 'image/gif', 'application/pdf', 'text/plain']);
  for (const [content, name, declared, is] of kinds) {
    // A kind of plain text that the site does not allow counts as plain text.
    const expected = taken.has(is) || ['text/csv', 'application/json'].includes(is) ? 200 : 422;
    expectStatus(await postFile(server, own, fileForm(content, name, declared)), expected);
  }
  assert.equal(
    filesOnDisk(server.dataDir).length - before.length,
    kinds.filter(([, , , is]) => taken.has(is)).length + 2,
  );
});

test('file names are sanitised', async () => {
  const own = await startFileEngagement(server);
  const names: readonly [sent: string, kept: string][] = [
    ['../../etc/passwd', 'passwd'],
    [String.raw`C:\Users\a\b.txt`, 'b.txt'],
    ['..', 'file'],
    ['a\u0007\u0000b.txt', 'ab.txt'],
    ['cod\u202Egpj.txt', 'codgpj.txt'],
    ['a.txt . .', 'a.txt'],
    ['ünïcödé 🐧.txt', 'ünïcödé 🐧.txt'],
    [`${'x'.repeat(400)}.txt`, `${'x'.repeat(251)}.txt`],
    ['🐧'.repeat(300), '🐧'.repeat(255)],
    ["a'b;c%41.txt", "a'b;c%41.txt"],
    ['__proto__', '__proto__'],
    [`${'x'.repeat(246)}.txt     ${'x'.repeat(20)}`, `${'x'.repeat(246)}.txt`],
    [`${'x'.repeat(254)}.${'y'.repeat(20)}`, 'x'.repeat(254)],
    ['a.txt\u00a0. \u2003.', 'a.txt'],
  ];
  for (const [name, kept] of names) {
    expectStatus(await postFile(server, own, fileForm('x', name)), 200);
    const { id, name: found } = (await listFiles(server, own)).at(-1);
    assert.equal(found, kept);
    const got = await fetch(`${server.url}${own.path}/${id}`, {
      headers: { authorization: `Bearer ${own.visitor.token}` },
    });
    const [, encoded = ''] = /filename\*=UTF-8''([\w.~%-]*)$/.exec(got.headers.get('content-disposition') ?? '') ?? [];
    assert.equal(decodeURIComponent(encoded), kept);
    assert.equal(await got.text(), 'x');
  }
  // When shortened, the name would end in spaces. Some systems ignore them, and would treat the file as a page.
  const page = `${'x'.repeat(245)}.html     ${'x'.repeat(20)}`;
  assert.match(
    expectStatus(await postFile(server, own, fileForm('x', page)), 422).body.detail,
    /is of type text\/html/,
  );
});

test('an interrupted upload leaves nothing behind', async () => {
  const own = await startFileEngagement(server);
  const before = filesOnDisk(server.dataDir);
  const uploads = Array.from({ length: 10 }, () => slowUpload(server, own));
  for (const upload of uploads) await upload.write('x'.repeat(100_000));
  await until(() => filesOnDisk(server.dataDir).length === before.length + 20);
  for (const upload of uploads) upload.cut();
  await until(() => filesOnDisk(server.dataDir).length === before.length);
  assert.deepEqual(await listFiles(server, own), []);
  expectStatus(await postFile(server, own, fileForm('x')), 200);
});

test('an upload may take longer than other requests, as long as bytes keep arriving', async (t) => {
  const own = await startFileEngagement(server);
  const usual = server.app.server.requestTimeout;
  server.app.server.requestTimeout = 500;
  t.after(() => (server.app.server.requestTimeout = usual));
  // The check that ends another incomplete request must not end the upload.
  const cut = fetch(`${server.url}/teams`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.account.admin}`, 'content-type': 'application/json' },
    body: new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{')) }),
    duplex: 'half',
  });
  const upload = slowUpload(server, own);
  await upload.write('begin ');
  assert.equal((await cut).status, 408);
  await upload.write('end');
  upload.end();
  const { status, body } = await upload.answer;
  assert.equal(status, 200);
  const got = await call(server, `GET ${own.path}/${body.file_id}`, { token: own.visitor.token });
  assert.equal(got.body, 'begin end');
});

test('a file is refused if the engagement ends during the upload', async () => {
  const own = await startFileEngagement(server);
  const before = filesOnDisk(server.dataDir);
  const upload = slowUpload(server, own);
  await upload.write('begin ');
  await until(() => filesOnDisk(server.dataDir).length > before.length);
  const end = { token: own.operator.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${own.engagement}`, end), 200);
  upload.end();
  const { status, body } = await upload.answer;
  assert.deepEqual([status, body.error], [409, 'engagement_ended']);
  await until(() => filesOnDisk(server.dataDir).length === before.length);
});

test('if the database fails while the row is written, the answer is 503 and every file without a row is marked', async () => {
  const own = await startFileEngagement(server);
  const before = filesOnDisk(server.dataDir);
  const { sql } = server.database;
  const answer = await sql.begin(async (holder) => {
    await holder`SELECT 1 FROM engagements WHERE id = ${own.engagement} FOR UPDATE`;
    const sending = postFile(server, own, fileForm('x'));
    const waiting = async () => sql<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await waiting()).length === 1);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ${(await waiting())[0]?.pid ?? 0}`;
    return sending;
  });
  assert.equal(expectStatus(answer, 503).body.error, 'database_unavailable');
  assert.deepEqual(filesOnDisk(server.dataDir), before, 'the row was never inserted, so the file goes');
  assert.deepEqual(await listFiles(server, own), []);
  expectStatus(await postFile(server, own, fileForm('x')), 200);
});

test('after a commit with unknown outcome, the file keeps its mark and the sweep decides', async () => {
  const own = await startFileEngagement(server);
  const { sql } = server.database;
  const before = filesOnDisk(server.dataDir);
  await sql`
    CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`;
  await sql`
    CREATE CONSTRAINT TRIGGER cut_off AFTER INSERT ON files DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION cut_off()`;
  try {
    expectStatus(await postFile(server, own, fileForm('x')), 503);
  } finally {
    await sql`DROP TRIGGER cut_off ON files`;
  }
  const [id, mark, ...more] = filesOnDisk(server.dataDir).filter((name) => !before.includes(name));
  assert.deepEqual([id === mark, more], [true, []], 'the file and its mark, which have the same name');
  await sweepFiles(
    sql,
    new FileDisk(server.dataDir, createLog('silent')),
    new Date(Date.now() + 3_601_000),
    () => true,
  );
  assert.deepEqual(filesOnDisk(server.dataDir), before);
});

test('uploads answer 503 while the folder is not writable, and work again afterwards', async () => {
  await using own = await startTestServer();
  const there = await startFileEngagement(own);
  // A file in place of the folder, because permissions would not stop root.
  writeFileSync(join(own.dataDir, 'files'), '');
  const refused = expectStatus(await postFile(own, there, fileForm('x')), 503);
  assert.equal(refused.body.error, 'storage_unavailable');
  assert.doesNotMatch(JSON.stringify(refused.body), /ENOTDIR|\/tmp/);
  assert.ok(own.logged.some((line) => line.includes('ENOTDIR')));
  rmSync(join(own.dataDir, 'files'));
  mkdirSync(join(own.dataDir, 'files/incoming'), { recursive: true });
  expectStatus(await postFile(own, there, fileForm('x')), 200);
});

const allowAnything = { allowed_file_content_types: ['application/octet-stream'] };

/** The peak memory of a process, in bytes. */
function peakMemory(pid: number): number {
  const [, kib = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

test(
  'ten concurrent uploads of 25 MiB per side need little memory, and the next start sweeps the leftovers of SIGKILL',
  { timeout: hangMs, skip: process.platform !== 'linux' && 'reads /proc' },
  async () => {
    await using cluster = await startCluster(1, { USHER_SCANNER: 'none' });
    const [node] = cluster.nodes;
    assert.ok(node?.child.pid);
    const there = cluster.reach(node);
    const account = await makeAccount(there);
    await changeSite(there, account, allowAnything);
    const own = await startFileEngagement(there, account);
    const bytes = new Uint8Array(most);
    expectStatus(await postFile(there, own, fileForm(bytes.subarray(0, mebibyte), 'warm')), 200);
    const before = peakMemory(node.child.pid);
    // 500 MiB may keep a slow disk busy for longer than the database may be silent. A client tries again, as the answer says.
    const acknowledged: string[] = [];
    const upload = async (token: string): Promise<void> =>
      until(async () => {
        const answer = await postFile(there, own, fileForm(bytes, 'zeros'), { token });
        // 429: the upload before this one has not been cleared away yet.
        if (answer.status !== 503 && answer.status !== 429) acknowledged.push(expectStatus(answer, 200).body.file_id);
        return answer.status === 200;
      });
    const senders = [own.visitor.token, own.operator.token];
    await Promise.all(Array.from({ length: 20 }, async (_, index) => upload(senders[index % 2] ?? '')));
    const grown = peakMemory(node.child.pid) - before;
    assert.ok(grown < 160 * mebibyte, `grew by ${Math.round(grown / mebibyte)} MiB for 500 MiB of files`);

    const kept = filesOnDisk(cluster.dataDir);
    const interrupted = slowUpload(there, own);
    await interrupted.write(bytes.subarray(0, mebibyte));
    await until(() => filesOnDisk(cluster.dataDir).length === kept.length + 2);
    await node.stop('SIGKILL');
    await assert.rejects(interrupted.answer);
    const left = filesOnDisk(cluster.dataDir).filter((name) => !kept.includes(name));
    assert.equal(left.length, 2, 'the mark and the part');
    const hourAgo = Date.now() / 1000 - 3_601;
    for (const name of left) utimesSync(join(cluster.dataDir, 'files/incoming', name), hourAgo, hourAgo);
    const next = cluster.reach(await cluster.start());
    await until(() => filesOnDisk(cluster.dataDir).length === kept.length);
    // A file whose answer was 503 may have been kept as well.
    const listed = new Set((await listFiles(next, own)).map(({ id }: Json) => id));
    assert.equal(acknowledged.length, 20);
    assert.deepEqual(acknowledged.filter((id) => !listed.has(id)), []); // prettier-ignore
  },
);

const unshare = 'unshare';
/** A separate namespace with a small disk mounted over the folder. It disappears with the process. */
const flags = process.getuid?.() === 0 ? '-m' : '-rm';
const ownDisk = [flags, 'sh', '-c', 'mount -t tmpfs -o size=3m tmpfs "$USHER_DATA_DIR" && exec "$@"', 'sh'];
const hasNamespaces = spawnSync(unshare, [flags, 'true']).status === 0;

test(
  'with a full disk an upload answers 503 storage_full and leaves nothing; a file that fits is accepted',
  { timeout: hangMs, skip: !hasNamespaces && 'needs unshare and the right to make namespaces, to have a small disk' },
  async () => {
    const address = await cloneDatabase();
    const database = openDatabase(address, 2);
    const directory = temporaryDirectory();
    const port = await freePort();
    const command = [...ownDisk, process.execPath, serverProgram(), 'serve'];
    const env = {
      PATH: process.env['PATH'],
      PORT: String(port),
      DATABASE_URL: urlOf(address),
      USHER_DATA_DIR: directory.path,
      USHER_SCANNER: 'none',
    };
    const node = new UsherProcess(spawn(unshare, command, { env, stdio: ['ignore', 'pipe', 'pipe'] }), port);
    try {
      const there = { url: (await node.ready()).url, database };
      const account = await makeAccount(there);
      await changeSite(there, account, allowAnything);
      const own = await startFileEngagement(there, account);
      for (let time = 0; time < 3; time += 1) {
        const refused = expectStatus(await postFile(there, own, fileForm(new Uint8Array(5 * mebibyte), 'zeros')), 503);
        assert.equal(refused.body.error, 'storage_full');
      }
      expectStatus(await postFile(there, own, fileForm(new Uint8Array(2 * mebibyte), 'zeros')), 200);
      expectStatus(await postFile(there, own, fileForm(new Uint8Array(2 * mebibyte), 'zeros')), 503);
      assert.equal((await listFiles(there, own)).length, 1);
      await until(() => node.output.includes('ENOSPC'));
    } finally {
      await node.stop('SIGKILL');
      await database.close(1_000);
      directory.remove();
    }
  },
);
