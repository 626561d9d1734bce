import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { forThisFile } from '../../support/fixture.ts';
import { fileForm, startFileEngagement, uploadFile } from '../../support/people/files.ts';
import { startTestServer } from '../../support/server.ts';
import { s3Credentials, startS3 } from '../../support/services/s3.ts';

Object.assign(process.env, s3Credentials);
const s3 = await forThisFile(startS3());
const content = '0123456789';
const etag = `"${createHash('sha256').update(content).digest('hex')}"`;

for (const [place, files] of [
  ['disk', undefined],
  ['bucket', s3.bucket()],
] as const)
  test(`a part of a file on ${place === 'disk' ? 'disk' : 'a bucket'} is downloaded to continue a download`, async () => {
    await using server = await startTestServer({ scanner: { kind: 'none' }, ...(files !== undefined && { files }) });
    const talk = await startFileEngagement(server);
    const id = await uploadFile(server, talk, fileForm(content));
    const get = async (headers: Record<string, string>, method = 'GET') => {
      const authorization = `Bearer ${talk.visitor.token}`;
      const answer = await fetch(`${server.url}${talk.path}/${id}`, { method, headers: { authorization, ...headers } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    for (const [range, part] of [
      ['bytes=0-0', '0'],
      ['bytes=2-4', '234'],
      ['bytes=7-', '789'],
      ['bytes=-3', '789'],
      ['bytes=5-1000', '56789'],
      ['bytes=-1000', content],
    ] as const) {
      const first = content.indexOf(part);
      const contentRange = `bytes ${first}-${first + part.length - 1}/10`;
      assert.deepEqual(await get({ range }), [206, contentRange, part], range);
      assert.deepEqual(await get({ range, 'if-range': etag }), [206, contentRange, part], range);
      assert.deepEqual(await get({ range, 'if-range': '"another"' }), [200, null, content], range);
    }
    for (const range of ['bytes=1-2,4-5', 'bytes=5-2', 'bytes=x', 'lines=1-2', 'bytes', ''])
      assert.deepEqual(await get({ range }), [200, null, content], range);
    for (const range of ['bytes=10-', 'bytes=1000-2000', 'bytes=-0']) {
      const [status, contentRange, body] = await get({ range });
      assert.deepEqual([status, contentRange], [416, 'bytes */10'], range);
      assert.equal((JSON.parse(String(body)) as { error: string }).error, 'range_not_satisfiable');
    }
    assert.deepEqual(await get({ range: 'bytes=2-4' }, 'HEAD'), [200, null, '']);
  });
