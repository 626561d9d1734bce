import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { BucketClient } from '../../packages/server/src/engagements/files/bucket/bucket-client.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { fileForm, filesOnDisk, startFileEngagement, uploadFile } from '../support/people/files.ts';
import { runCommand } from '../support/processes/command.ts';
import { urlOf } from '../support/processes/cluster.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { startTestServer } from '../support/server.ts';
import { s3Credentials, startS3 } from '../support/services/s3.ts';

Object.assign(process.env, s3Credentials);
const s3 = await forThisFile(startS3());

test('a backup has the files of a bucket, and they are restored into another one', async (t) => {
  const folder = temporaryDirectory();
  t.after(() => folder.remove());
  await using server = await startTestServer({ scanner: { kind: 'none' }, files: s3.bucket(s3.url, 'source') });
  const talk = await startFileEngagement(server);
  const id = await uploadFile(server, talk, fileForm('in a bucket'));
  const run = async (args: readonly string[], url: string, files: string) =>
    runCommand(args, { ...s3Credentials, DATABASE_URL: url, USHER_DATA_DIR: folder.path, USHER_FILES: files });
  const source = urlOf(server.database.address);
  const file = join(folder.path, 'one.usher');

  const away = await run(['backup', file], source, 's3://uploads/source?endpoint=http://127.0.0.1:9');
  assert.equal(away.child.exitCode, 1);
  assert.match(away.errors, /^usher: Uploaded files cannot be read or written\. .* No backup was made\.\n$/);

  const made = await run(['backup', file], source, `s3://uploads/source?endpoint=${s3.url}`);
  assert.match(made.output, /^Backed up \d+ rows and 1 files /, made.errors);
  const target = urlOf(await emptyDatabase());
  const restored = await run(['restore', file], target, `s3://uploads/target?endpoint=${s3.url}`);
  assert.match(restored.output, /^Restored \d+ rows and 1 files/, restored.errors);
  const bytes = await new BucketClient(s3.bucket(s3.url, 'target')).get(`files/${id}`);
  assert.ok(bytes);
  assert.equal(await text(bytes), 'in a bucket');
  assert.deepEqual(
    s3.keys().filter((key) => key.startsWith('target/incoming/')),
    [],
  );
  assert.deepEqual(filesOnDisk(folder.path), []);

  const checked = await run(['doctor'], target, `s3://uploads/target?endpoint=${s3.url}`);
  assert.match(checked.output, /^ok +bucket: s3:\/\/uploads\/target\/ at http:\S+ can be read, written and listed$/m);
});
