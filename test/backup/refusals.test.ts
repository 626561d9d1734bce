import assert from 'node:assert/strict';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { checkBackup } from '../../packages/server/src/backup/check-backup.ts';
import { BackupWriter, type BackupHeader } from '../../packages/server/src/backup/format.ts';
import { writeBackup } from '../../packages/server/src/backup/write-backup.ts';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import { openDatabase } from '../../packages/server/src/platform/database/database.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { createSchema, knownMigrations } from '../../packages/server/src/platform/database/migrations/migrations.ts';
import type { FileId } from '../../packages/server/src/platform/ids.ts';
import { addFile, backUp, putBytes, restoreFrom, tablesOf, withSql } from '../support/database/backup.ts';
import { cloneDatabase, emptyDatabase } from '../support/database/database.ts';
import { filesOnDisk, pathOnDisk } from '../support/people/files.ts';
import { temporaryDirectory } from '../support/processes/process.ts';

const signal = new AbortController().signal;

function newFolder(t: TestContext): string {
  const folder = temporaryDirectory();
  t.after(() => folder.remove());
  return folder.path;
}

/** A backup with the given header and no rows. */
async function writeHeader(folder: string, header: Partial<BackupHeader>): Promise<string> {
  const file = join(folder, 'header.usher');
  const writer = new BackupWriter(createWriteStream(file), signal);
  const migrations = (await knownMigrations()).map(({ file: name }) => name);
  const whole: BackupHeader = {
    format: 1,
    usher: '9.9.9',
    postgres: '18',
    created_at: '',
    migrations,
    tables: [],
    ...header,
  };
  await writer.json('header', whole);
  await writer.end();
  return file;
}

/** Some bits describe the compression: to change one need not change what is read, for example the place of a repeated word. */
function hasSameContent(one: Buffer, other: Buffer): boolean {
  try {
    return zstdDecompressSync(one).equals(zstdDecompressSync(other));
  } catch {
    return false;
  }
}

test('a damaged or truncated backup is refused, and the database and the files stay as they were', async (t) => {
  const folder = newFolder(t);
  const source = { address: await cloneDatabase(), dataDir: join(folder, 'source') };
  const target = { address: await emptyDatabase(), dataDir: join(folder, 'target') };
  await addFile(source, 'bytes of a file');
  const file = join(folder, 'whole.usher');
  await backUp(source, file);
  const whole = readFileSync(file);
  const check = async (bytes: Buffer) => checkBackup(Readable.from([bytes]), { signal, onProgress: () => undefined });
  assert.equal((await check(whole)).files, 1);

  const refused = { name: 'StartError', message: /^The file is not a (?:complete )?backup of Usher/ };
  const flipped = (at: number): Buffer => {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    return bytes;
  };
  let damaged = 0;
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 100)) {
    await assert.rejects(check(whole.subarray(0, at)), refused, `${at} bytes`);
    if (hasSameContent(flipped(at), whole)) continue;
    damaged += 1;
    await assert.rejects(check(flipped(at)), refused, `byte ${at}`);
  }
  assert.ok(damaged > 80, `${damaged} changes were damage`);
  await assert.rejects(check(Buffer.alloc(0)), refused);
  await assert.rejects(check(Buffer.from('PGDMP')), refused);

  // The damage is found after rows were written, and after the files.
  for (const bytes of [flipped(Math.floor(whole.length / 2)), whole.subarray(0, -3)])
    await assert.rejects(restoreFrom(target, bytes), refused);
  assert.equal(await tablesOf(target.address), 0);
  assert.deepEqual(filesOnDisk(target.dataDir), []);
  assert.equal((await restoreFrom(target, whole)).files, 1);
});

test('the checksum covers what the compression does not: a record that was left out', async (t) => {
  const folder = newFolder(t);
  const [file, other] = [join(folder, 'one'), join(folder, 'other')];
  for (const [name, rows] of [
    [file, 2],
    [other, 1],
  ] as const) {
    const writer = new BackupWriter(createWriteStream(name), signal);
    await writer.json('header', { format: 1, migrations: [], tables: [] });
    for (let row = 0; row < rows; row += 1) await writer.json('sequences', [row]);
    await writer.end();
  }
  const [two, one] = [zstdDecompressSync(readFileSync(file)), zstdDecompressSync(readFileSync(other))];
  const endLength = 5 + 32;
  const forged = Buffer.concat([one.subarray(0, -endLength), two.subarray(-endLength)]);
  await assert.rejects(
    checkBackup(Readable.from([zstdCompressSync(forged)]), { signal, onProgress: () => undefined }),
    {
      message: /its checksum is wrong/,
    },
  );
});

test('a database with tables, a newer schema and another format are refused with what to do', async (t) => {
  const folder = newFolder(t);
  const dataDir = join(folder, 'data');
  const used = { address: await cloneDatabase(), dataDir };
  const empty = { address: await emptyDatabase(), dataDir };
  const file = join(folder, 'whole.usher');
  await backUp(used, file);
  const before = await tablesOf(used.address);
  await assert.rejects(restoreFrom(used, file), {
    message: /^The database is not empty: .* create one and name it by DATABASE_URL/,
  });
  assert.equal(await tablesOf(used.address), before);

  const migrations = (await knownMigrations()).map(({ file: name }) => name);
  for (const [header, message] of [
    [
      { migrations: [...migrations, '9999_future.sql'] },
      /^The backup has schema version \d+ and was made by Usher 9\.9\.9; this Usher knows versions up to \d+\. Restore it with that version/,
    ],
    [
      { migrations: ['0001_other.sql'] },
      /^The backup was made by another variant of Usher: this one has no migration 0001_other\.sql/,
    ],
    [{ format: 2 }, /^The backup has format 2, made by Usher 9\.9\.9; this Usher reads format 1\./],
  ] as const)
    await assert.rejects(restoreFrom(empty, await writeHeader(folder, header)), { message });
  assert.equal(await tablesOf(empty.address), 0);
  await assert.rejects(backUp(empty, join(folder, 'none.usher')), {
    message: /^The database has no tables of Usher\./,
  });
});

test('a backup of an older schema is restored and then migrated', async (t) => {
  const folder = newFolder(t);
  const target = { address: await emptyDatabase(), dataDir: join(folder, 'data') };
  const known = (await knownMigrations()).map(({ file }) => file);
  const source = { address: await emptyDatabase(), dataDir: join(folder, 'data') };
  await withSql(source.address, async (sql) => sql.begin(async (own) => createSchema(own, known.length - 2)));
  const file = join(folder, 'older.usher');
  await backUp(source, file);
  const { schema } = await restoreFrom(target, file);
  assert.equal(schema, known.length - 2);
  const [row] = await withSql(
    target.address,
    async (sql) => sql<{ last: number }[]>`SELECT max(number) AS last FROM migrations`,
  );
  assert.equal(row?.last, known.length);
});

test('a file that was deleted meanwhile is left out; a file without bytes is reported', async (t) => {
  const folder = newFolder(t);
  const source = { address: await cloneDatabase(), dataDir: join(folder, 'source') };
  const [deleted, lost, kept] = [
    await addFile(source, 'deleted'),
    await addFile(source, null),
    await addFile(source, 'kept'),
  ];
  const database = openDatabase(source.address, 1);
  t.after(async () => database.close());
  const disk = new FileDisk(source.dataDir, createLog('silent'));
  class Deleting extends FileDisk {
    override async open(id: FileId) {
      if (id === deleted) {
        await database.sql`DELETE FROM files WHERE id = ${id}`;
        await disk.remove(id);
      }
      return super.open(id);
    }
  }
  const file = join(folder, 'one.usher');
  const fileStore = new Deleting(source.dataDir, createLog('silent'));
  const to = createWriteStream(file);
  const summary = await writeBackup({ database, fileStore, to, signal, onProgress: () => undefined });
  assert.deepEqual([summary.files, summary.missing], [1, [lost]]);

  // The same files are there already, as after a move of the database alone. Other bytes are never replaced.
  const beside = { address: await emptyDatabase(), dataDir: join(folder, 'beside') };
  putBytes(beside.dataDir, kept, 'other');
  await assert.rejects(restoreFrom(beside, file), { message: /already has other bytes for the file/ });
  assert.equal(readFileSync(pathOnDisk(beside.dataDir, kept), 'utf8'), 'other');
  putBytes(beside.dataDir, kept, 'kept');
  await restoreFrom(beside, file);
  assert.deepEqual(filesOnDisk(beside.dataDir), [kept]);
});
