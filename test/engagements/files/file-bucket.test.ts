import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { sweepFiles } from '../../../packages/server/src/engagements/files/sweep.ts';
import { FileBucket } from '../../../packages/server/src/engagements/files/bucket/bucket.ts';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import { newId, type FileId } from '../../../packages/server/src/platform/ids.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import {
  fileForm,
  filesOnDisk,
  listFiles,
  postFile,
  startFileEngagement,
  uploadFile,
  type FileEngagement,
} from '../../support/people/files.ts';
import { startProxy } from '../../support/network/proxy.ts';
import { forThisFile } from '../../support/fixture.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { eicar, startFakeClamd } from '../../support/services/clamd.ts';
import { s3Credentials, startS3 } from '../../support/services/s3.ts';
import { expectStatus } from '../../support/world.ts';

/** Files in a bucket. test/engagements/file-store.test.ts has what every store must do. */

Object.assign(process.env, s3Credentials);
const s3 = await forThisFile(startS3());
const scanner = { kind: 'none' } as const;

async function download(server: { url: string }, { path, visitor }: FileEngagement, id: string): Promise<Response> {
  return fetch(`${server.url}${path}/${id}`, { headers: { authorization: `Bearer ${visitor.token}` } });
}

test('a file is in the bucket when the upload is answered, and any process serves and deletes it', async () => {
  await using first = await startTestServer({ scanner, files: s3.bucket() });
  await using second = await startTestServer({ scanner, files: s3.bucket() }, first.database.address);
  const talk = await startFileEngagement(first);
  const content = 'a'.repeat(3_000_000);
  const id = await uploadFile(first, talk, fileForm(content));
  assert.ok(s3.keys().includes(`usher/files/${id}`));
  assert.ok(!s3.keys().includes(`usher/incoming/${id}`));
  assert.deepEqual(filesOnDisk(first.dataDir), []);
  const answer = await download(second, talk, id);
  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), content);
  expectStatus(await call(second, `DELETE ${talk.path}/${id}`, { token: talk.visitor.token }), 204);
  assert.ok(!s3.keys().includes(`usher/files/${id}`));
  assert.equal((await download(first, talk, id)).status, 410);
});

test('a file that was stored on disk before is served from there', async () => {
  await using before = await startTestServer({ scanner });
  const talk = await startFileEngagement(before);
  const id = await uploadFile(before, talk, fileForm('from disk'));
  const settings = { scanner, files: s3.bucket(), dataDir: before.dataDir };
  await using after = await startTestServer(settings, before.database.address);
  assert.equal(await (await download(after, talk, id)).text(), 'from disk');
  expectStatus(await call(after, `DELETE ${talk.path}/${id}`, { token: talk.visitor.token }), 204);
  assert.deepEqual(filesOnDisk(before.dataDir), []);
});

test('a store that is away or silent refuses uploads and downloads with 503, and works again afterwards', async () => {
  await using proxy = await startProxy({ url: s3.url });
  await using server = await startTestServer({ scanner, files: s3.bucket(proxy.url) });
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('kept'));
  const refused = async (): Promise<void> => {
    const upload = expectStatus(await postFile(server, talk, fileForm('lost')), 503);
    assert.equal(upload.body.error, 'storage_unavailable');
    assert.equal((await download(server, talk, id)).status, 503);
  };
  proxy.shut(true);
  await refused();
  proxy.shut(false);
  assert.equal(await (await download(server, talk, id)).text(), 'kept');
  proxy.silence(true);
  await refused();
  proxy.silence(false);
  await uploadFile(server, talk, fileForm('again'));
  // Nothing of the refused uploads has a row, and nothing is left on disk.
  assert.equal(
    expectStatus(await call(server, `GET ${talk.path}`, { token: talk.visitor.token }), 200).body.files.length,
    2,
  );
});

test('a slow store delays uploads and downloads of files, and a scanner reads them from the bucket', async () => {
  await using proxy = await startProxy({ url: s3.url });
  const clamd = await forThisFile(startFakeClamd());
  const scanning = { kind: 'clamd', host: clamd.host, port: clamd.port } as const;
  await using server = await startTestServer({ scanner: scanning, files: s3.bucket(proxy.url) });
  const talk = await startFileEngagement(server);
  proxy.delay(300);
  const content = 'slow '.repeat(100_000);
  const [id, infected] = await Promise.all(
    [content, `before ${eicar}`].map(async (each) => uploadFile(server, talk, fileForm(each))),
  );
  const stateOf = async (file: string | undefined): Promise<string> =>
    (await listFiles(server, talk)).find((each) => each.id === file)?.state;
  await until(async () => (await stateOf(id)) === 'clean' && (await stateOf(infected)) === 'infected');
  assert.equal(await (await download(server, talk, id ?? '')).text(), content);
  await until(() => !s3.keys().includes(`usher/files/${infected}`));
});

for (const [status, code, error] of [
  [507, 'InsufficientStorage', 'storage_full'],
  [400, 'QuotaExceeded', 'storage_full'],
  [500, 'InternalError', 'storage_unavailable'],
  [403, 'AccessDenied', 'storage_unavailable'],
  [200, null, 'storage_unavailable'],
] as const)
  test(`a store that answers ${status} ${code ?? 'without an object'} makes an upload ${error}`, async (t) => {
    const store = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        if (code === null) return void response.destroy();
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`);
      });
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    t.after(() => store.close());
    const { port } = store.address() as AddressInfo;
    await using server = await startTestServer({ scanner, files: s3.bucket(`http://127.0.0.1:${port}`) });
    const talk = await startFileEngagement(server);
    const answer = await postFile(server, talk, fileForm('x'));
    assert.equal(answer.body.error, error);
    assert.ok(answer.status === 503 || answer.status === 507, String(answer.status));
  });

test('the sweep removes what another process has left in the bucket, and keeps what has a row', async () => {
  await using server = await startTestServer({ scanner, files: s3.bucket() });
  const talk = await startFileEngagement(server);
  const confirmed = await uploadFile(server, talk, fileForm('has a row'));
  const store = new FileBucket(s3.bucket(), new FileDisk(server.dataDir, createLog('silent')), createLog('silent'));
  const orphan = newId<FileId>();
  await store.begin(orphan);
  await pipeline(Readable.from(['without a row']), store.write(orphan));
  await store.keep(orphan);
  assert.ok(s3.keys().includes(`usher/files/${orphan}`));
  await using other = await startTestServer({ scanner, files: s3.bucket() }, server.database.address);
  const theirs = new FileBucket(s3.bucket(), new FileDisk(other.dataDir, createLog('silent')), createLog('silent'));
  const { sql } = server.database;
  await sweepFiles(sql, theirs, new Date(), () => true);
  assert.ok(s3.keys().includes(`usher/files/${orphan}`), 'it may still be on its way');
  await sweepFiles(sql, theirs, new Date(Date.now() + 2 * 3_600_000), () => true);
  assert.ok(!s3.keys().includes(`usher/files/${orphan}`));
  assert.ok(!s3.keys().includes(`usher/incoming/${orphan}`));
  assert.ok(s3.keys().includes(`usher/files/${confirmed}`));
});
