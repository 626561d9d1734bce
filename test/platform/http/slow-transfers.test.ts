import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import {
  fileForm,
  listFiles,
  filesOnDisk,
  postFile,
  uploadFile,
  changeSite,
  slowUpload,
  startFileEngagement,
  type SlowUpload,
  type FileEngagement,
} from '../../support/people/files.ts';
import { forThisFile } from '../../support/fixture.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus } from '../../support/world.ts';

const pacers: NodeJS.Timeout[] = [];

/** Slow uploads and downloads use the limits of their own caller for half a minute, and affect no other caller. */
const server = await forThisFile(startTestServer());
/** These start before all tests and are checked in the last one, because half a minute must pass. */
const talk = await startFileEngagement(server);
const silent = { talk, upload: slowUpload(server, talk) };
await silent.upload.write('something, and then nothing');
const trickling = paced(slowUpload(server, await startFileEngagement(server)), 'x');
const steady = paced(slowUpload(server, await startFileEngagement(server)), 'x'.repeat(8 * 1024));
// Each has a file for its bytes, and one that marks it as incoming.
await until(() => filesOnDisk(server.dataDir).length === 6);
const unread = await beginDownloads(10);
await forThisFile({
  close() {
    for (const pacer of pacers) clearInterval(pacer);
    for (const response of unread.responses) response.destroy();
  },
});

/** Sends the piece every second. */
function paced(upload: SlowUpload, piece: string): SlowUpload {
  pacers.push(setInterval(() => void upload.write(piece), 1_000));
  return upload;
}

interface Unread {
  readonly path: string;
  readonly talk: FileEngagement;
  readonly responses: readonly IncomingMessage[];
}

/** Starts downloads that are never read. The file is larger than the socket buffers. */
async function beginDownloads(count: number): Promise<Unread> {
  const talk = await startFileEngagement(server);
  await changeSite(server, talk.account, { allowed_file_content_types: ['application/octet-stream'] });
  const path = `${talk.path}/${await uploadFile(server, talk, fileForm(new Uint8Array(24 * 1024 * 1024), 'zeros'))}`;
  const headers = { authorization: `Bearer ${talk.visitor.token}` };
  const begin = async (): Promise<IncomingMessage> => {
    const request = httpRequest(`${server.url}${path}`, { headers, agent: false }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.on('error', () => undefined);
  };
  return { path, talk, responses: await Promise.all(Array.from({ length: count }, begin)) };
}

test('a caller has at most 10 downloads at once', async () => {
  const { path, talk } = unread;
  const refused = await call(server, `GET ${path}`, { token: talk.visitor.token });
  // Without expectStatus, which would print 24 MiB.
  assert.equal(refused.status, 429);
  assert.match(refused.body.detail, /^You are already downloading 10 files\. Wait until one of them has finished/);
  expectStatus(await call(server, `HEAD ${path}`, { token: talk.operator.token }), 200);
});

test('a caller has at most 10 uploads at once; slow ones block neither the other side nor another engagement', async () => {
  const own = await startFileEngagement(server);
  // The uploads that began before the tests may end meanwhile.
  const before = new Set(filesOnDisk(server.dataDir));
  const more = (): number => filesOnDisk(server.dataDir).filter((name) => !before.has(name)).length;
  const uploads = Array.from({ length: 10 }, () => slowUpload(server, own));
  for (const upload of uploads) await upload.write('x');
  await until(() => more() === 20);
  const refused = expectStatus(await postFile(server, own, fileForm('x')), 429);
  assert.equal(refused.body.error, 'rate_limited');
  assert.match(refused.body.detail, /^You are already uploading 10 files to this engagement\. Wait until one of them/);
  assert.equal(refused.headers.get('retry-after'), '5');
  expectStatus(await postFile(server, own, fileForm('x'), { token: own.operator.token }), 200);
  expectStatus(await postFile(server, await startFileEngagement(server), fileForm('x')), 200);
  uploads.pop()?.cut();
  await until(() => more() === 20);
  expectStatus(await postFile(server, own, fileForm('x')), 200);
  for (const upload of uploads) upload.cut();
  await until(() => more() === 3);
});

test('an upload or download with almost no traffic is aborted after half a minute', { timeout: hangMs }, async () => {
  for (const upload of [silent.upload, trickling]) {
    const { status, body } = await upload.answer;
    assert.deepEqual([status, body.error], [408, 'request_timeout']);
    assert.match(body.detail, /^The upload is too slow: less than 64 KiB in 30 s\. Send it again over a faster/);
  }
  assert.deepEqual(await listFiles(server, silent.talk), []);

  for (const pacer of pacers) clearInterval(pacer);
  steady.end();
  assert.equal((await steady.answer).status, 200, 'a slow but steady upload succeeds');

  const { path, talk } = unread;
  const again = async () => call(server, `HEAD ${path}`, { token: talk.visitor.token });
  await until(async () => (await again()).status === 200, 60_000);
});
