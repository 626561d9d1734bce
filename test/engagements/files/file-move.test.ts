import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { BucketClient } from '../../../packages/server/src/engagements/files/bucket/bucket-client.ts';
import { FileBucket } from '../../../packages/server/src/engagements/files/bucket/bucket.ts';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import { moveFiles } from '../../../packages/server/src/engagements/files/bucket/move-files.ts';
import { sweepFiles } from '../../../packages/server/src/engagements/files/sweep.ts';
import { newId, type FileId } from '../../../packages/server/src/platform/ids.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { forThisFile } from '../../support/fixture.ts';
import {
  fileForm,
  filesOnDisk,
  pathOnDisk,
  startFileEngagement,
  uploadFile,
  type FileEngagement,
} from '../../support/people/files.ts';
import { startProxy } from '../../support/network/proxy.ts';
import { urlOf } from '../../support/processes/cluster.ts';
import { runCommand } from '../../support/processes/command.ts';
import type { UsherProcess } from '../../support/processes/process.ts';
import { call, startTestServer, until, type TestServer } from '../../support/server.ts';
import { s3Credentials, startS3 } from '../../support/services/s3.ts';
import { expectStatus } from '../../support/world.ts';

/** `usher files move`, from the disk of a server to a bucket of its own. */

Object.assign(process.env, s3Credentials);
const s3 = await forThisFile(startS3());
const scanner = { kind: 'none' } as const;
const log = createLog('silent');

interface Moved {
  readonly server: TestServer;
  readonly talk: FileEngagement;
  readonly ids: string[];
  readonly prefix: string;
}

/** A server whose files are in a bucket from now on, with files of before on its disk. */
async function startWithFiles(contents: readonly string[]): Promise<Moved & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const before = stack.use(await startTestServer({ scanner }));
  const talk = await startFileEngagement(before);
  const ids: string[] = [];
  for (const content of contents) ids.push(await uploadFile(before, talk, fileForm(content)));
  const prefix = newId();
  const settings = { scanner, files: s3.bucket(s3.url, prefix), dataDir: before.dataDir };
  const server = stack.use(await startTestServer(settings, before.database.address));
  return { server, talk, ids, prefix, [Symbol.asyncDispose]: async () => stack.disposeAsync() };
}

async function run({ server, prefix }: Moved, args: readonly string[], endpoint = s3.url): Promise<UsherProcess> {
  return runCommand(['files', 'move', ...args], {
    ...s3Credentials,
    DATABASE_URL: urlOf(server.database.address),
    USHER_DATA_DIR: server.dataDir,
    ...(prefix !== '' && { USHER_FILES: `s3://uploads/${prefix}?endpoint=${endpoint}` }),
  });
}

async function download({ server, talk }: Moved, id: string): Promise<string> {
  const answer = await fetch(`${server.url}${talk.path}/${id}`, {
    headers: { authorization: `Bearer ${talk.visitor.token}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}

const objects = (prefix: string): string[] => s3.keys().filter((key) => key.startsWith(`${prefix}/files/`));

test('files are moved to the bucket and verified, while each of them can be downloaded throughout', async () => {
  const contents = Array.from({ length: 40 }, (_, n) => `content ${n} `.repeat(1_000));
  await using moved = await startWithFiles(contents);
  const { ids, prefix, server } = moved;
  const end = new AbortController();
  const moving = run(moved, ['--verify', '--json']).finally(() => end.abort());
  let downloads = 0;
  while (!end.signal.aborted)
    for (const [n, id] of ids.entries()) {
      assert.equal(await download(moved, id), contents[n]);
      downloads += 1;
    }
  const { errors, output } = await moving;
  assert.equal(errors, '');
  const bytes = contents.join('').length;
  assert.deepEqual(JSON.parse(output), { moved: 40, bytes, unknown: 0, damaged: [] });
  assert.ok(downloads >= ids.length);
  assert.deepEqual(filesOnDisk(server.dataDir), []);
  assert.deepEqual(objects(prefix), ids.map((id) => `${prefix}/files/${id}`).toSorted());
  for (const [n, id] of ids.entries()) assert.equal(await download(moved, id), contents[n]);
  const again = await run(moved, ['--resume']);
  assert.match(again.output, /^Moved 0 files \(0 B\) to s3:\/\/uploads\//);
  // The marks of the moved files are confirmed like those of an upload.
  const store = new FileBucket(s3.bucket(s3.url, prefix), new FileDisk(server.dataDir, log), log);
  await sweepFiles(server.database.sql, store, new Date(Date.now() + 2 * 3_600_000), () => true);
  assert.deepEqual(
    s3.keys().filter((key) => key.startsWith(`${prefix}/incoming/`)),
    [],
  );
  assert.equal(objects(prefix).length, ids.length);
});

test('a move stops at the first failure of the bucket, says why, and goes on when it is run again', async () => {
  await using proxy = await startProxy({ url: s3.url });
  await using moved = await startWithFiles(['one', 'two']);
  proxy.shut(true);
  const failed = await run(moved, [], proxy.url);
  assert.equal(failed.child.exitCode, 1);
  assert.match(
    failed.errors,
    /^usher: Files cannot be moved from \S+ to s3:\/\/uploads\/\S+ at http:\S+ \(.+\)\. What was moved stays moved\. Run the command again to go on\.\n$/,
  );
  assert.deepEqual(filesOnDisk(moved.server.dataDir), moved.ids.toSorted());
  proxy.shut(false);
  assert.match((await run(moved, [], proxy.url)).output, /^Moved 2 files \(6 B\) to /);
  assert.equal(await download(moved, moved.ids[1] ?? ''), 'two');
});

test('without a bucket nothing is moved', async () => {
  await using moved = await startWithFiles([]);
  const { child, errors } = await run({ ...moved, prefix: '' }, []);
  assert.equal(child.exitCode, 1);
  assert.match(errors, /^usher: USHER_FILES names no bucket\. Set it, as for the server: s3:\/\/bucket\/prefix\.\n$/);
});

test('a damaged file stays on disk and is named, and a file without a row stays', async () => {
  await using moved = await startWithFiles(['whole', 'damaged']);
  const { server, prefix, ids } = moved;
  const [whole = '', damaged = ''] = ids;
  writeFileSync(pathOnDisk(server.dataDir, damaged), 'changed');
  const disk = new FileDisk(server.dataDir, log);
  const unknown = newId<FileId>();
  await disk.begin(unknown);
  disk.write(unknown).end('of nobody');
  await until(async () => (await disk.readWritten(unknown).catch(() => null))?.size === 9);
  await disk.keep(unknown);
  await disk.confirm(unknown);
  const { child, output, errors } = await run(moved, ['--verify']);
  assert.equal(child.exitCode, 1);
  assert.match(output, /^Moved 1 files .*\n1 files in USHER_DATA_DIR belong to no conversation, and stay there\.\n$/);
  assert.match(errors, new RegExp(`^usher: 1 files, such as ${damaged}, are not in the bucket as they were uploaded`));
  assert.deepEqual(filesOnDisk(server.dataDir), [damaged, unknown].toSorted());
  assert.deepEqual(objects(prefix), [`${prefix}/files/${whole}`]);
});

test('a file that the bucket has accepted and does not have stays on disk', async (t) => {
  await using moved = await startWithFiles(['only here']);
  const store = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.method !== 'GET') return void response.end();
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end('<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>No.</Message></Error>');
    });
  });
  t.after(() => store.close());
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  const { child, errors } = await run(moved, ['--verify'], `http://127.0.0.1:${port}`);
  assert.equal(child.exitCode, 1);
  assert.match(errors, new RegExp(`such as ${moved.ids[0]}`));
  assert.deepEqual(filesOnDisk(moved.server.dataDir), moved.ids);
});

test('a file that is deleted while it is moved is nowhere afterwards', async () => {
  await using moved = await startWithFiles(['deleted']);
  const { server, talk, prefix, ids } = moved;
  const disk = new FileDisk(server.dataDir, log);
  const bucket = new FileBucket(s3.bucket(s3.url, prefix), disk, log);
  const adopt = bucket.adopt.bind(bucket);
  bucket.adopt = async (id, bytes) => {
    expectStatus(await call(server, `DELETE ${talk.path}/${id}`, { token: talk.visitor.token }), 204);
    await adopt(id, bytes);
  };
  const options = { isVerified: false, signal: new AbortController().signal, onMoved: () => undefined };
  const { moved: count } = await moveFiles({ sql: server.database.sql, from: disk, to: bucket, ...options });
  assert.equal(count, 0);
  assert.deepEqual([objects(prefix), filesOnDisk(server.dataDir)], [[], []]);
  assert.equal(ids.length, 1);
});

test('a move that ended before the bytes were in the bucket loses nothing when leftovers are removed', async () => {
  await using moved = await startWithFiles(['kept']);
  const { server, prefix, ids } = moved;
  const id = ids[0] as FileId;
  const disk = new FileDisk(server.dataDir, log);
  const bucket = new FileBucket(s3.bucket(s3.url, prefix), disk, log);
  await new BucketClient(s3.bucket(s3.url, prefix)).put(`incoming/${id}`, '', 0);
  assert.ok(s3.keys().includes(`${prefix}/incoming/${id}`));
  await sweepFiles(server.database.sql, bucket, new Date(Date.now() + 2 * 3_600_000), () => true);
  assert.deepEqual(
    s3.keys().filter((key) => key.startsWith(prefix)),
    [],
  );
  assert.equal(await download(moved, id), 'kept');
});
