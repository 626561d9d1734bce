import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import type { DatabaseAddress } from '../../packages/server/src/platform/database/database.ts';
import { serverProgram } from '../../scripts/built.mjs';
import { addFile, backUp, contentsOf, tablesOf, withSql } from '../support/database/backup.ts';
import { cloneDatabase, emptyDatabase } from '../support/database/database.ts';
import { filesOnDisk, pathOnDisk } from '../support/people/files.ts';
import { temporaryDirectory, UsherProcess } from '../support/processes/process.ts';
import { until } from '../support/server.ts';

const started: UsherProcess[] = [];
after(async () => {
  for (const usher of started) await usher.stop('SIGKILL');
});

interface Installation {
  readonly address: DatabaseAddress;
  readonly dataDir: string;
}

async function open(t: TestContext) {
  const folder = temporaryDirectory();
  t.after(() => folder.remove());
  const source = { address: await cloneDatabase(), dataDir: join(folder.path, 'source') };
  const target = { address: await emptyDatabase(), dataDir: join(folder.path, 'target') };
  return { folder: folder.path, source, target, file: join(folder.path, 'one.usher') };
}

function urlOf(address: DatabaseAddress): string {
  assert.ok(address.kind === 'socket');
  return `postgres://${address.user}@localhost/${address.database}?host=${address.directory}`;
}

interface Streams {
  readonly stdin?: 'pipe';
  /** An open file. */
  readonly stdout?: number;
  /** A limit for the size of files, in blocks of 512 bytes. */
  readonly maxBlocks?: number;
}

/** Starts a command on the installation. The shell sets the limit. */
function start({ address, dataDir }: Installation, args: readonly string[], streams: Streams = {}): UsherProcess {
  const { stdin = 'ignore', stdout = 'pipe', maxBlocks } = streams;
  const limit = maxBlocks === undefined ? '' : `ulimit -f ${maxBlocks}; `;
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, serverProgram(), ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: urlOf(address), USHER_DATA_DIR: dataDir },
    stdio: [stdin, stdout, 'pipe'],
  });
  // A process that ends early closes its standard input.
  child.stdin?.on('error', () => undefined);
  const usher = new UsherProcess(child, 0);
  started.push(usher);
  return usher;
}

async function run(where: Installation, args: readonly string[], streams?: Streams): Promise<UsherProcess> {
  const usher = start(where, args, streams);
  await usher.ended();
  return usher;
}

function expectError({ child, errors }: UsherProcess, message: RegExp): void {
  assert.equal(child.exitCode, 1, errors);
  assert.match(errors, message);
  assert.equal(errors.trimEnd().split('\n').length, 1, errors);
}

test('usher backup writes a file for its owner alone, and usher restore restores it', async (t) => {
  const { folder, source, target, file } = await open(t);
  const id = await addFile(source, 'bytes');
  const made = await run(source, ['backup', file, '--json']);
  assert.equal(made.errors, '');
  const summary = JSON.parse(made.output) as Record<string, unknown>;
  assert.deepEqual([summary['file'], summary['files'], summary['missing']], [file, 1, []]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  expectError(await run(source, ['backup', file]), /^usher: \S+ exists\. Name another file, or remove it first\./);
  assert.deepEqual(readdirSync(folder).filter((name) => name.includes('usher')), ['one.usher']); // prettier-ignore

  assert.match(
    (await run(source, ['backup', '--check', file])).output,
    /^The backup is complete: \d+ rows and 1 files/,
  );
  const restored = await run(target, ['restore', file]);
  assert.match(restored.output, /^Restored \d+ rows and 1 files, as of 20\S+Z, into PostgreSQL at /, restored.errors);
  assert.equal(readFileSync(pathOnDisk(target.dataDir, id), 'utf8'), 'bytes');
  assert.deepEqual(await contentsOf(target.address), await contentsOf(source.address));
  expectError(await run(target, ['restore', file]), /^usher: The database is not empty/);
});

test('a full disk, a closed pipe and a missing file are named, and no part of a backup stays', async (t) => {
  const { folder, source, target, file } = await open(t);
  const id = await addFile(source, randomBytes(1_000_000));
  expectError(await run(source, ['backup', file], { maxBlocks: 200 }), /^usher: There is no space left for \S+one\.usher\. .* No backup was made\.$/m); // prettier-ignore
  assert.deepEqual(readdirSync(folder), ['source']);
  const full = openSync('/dev/full', 'w');
  expectError(await run(source, ['backup', '-'], { stdout: full }), /^usher: There is no space left for the standard stream/); // prettier-ignore

  const piped = start(source, ['backup', '-']);
  piped.child.stdout?.destroy();
  await piped.ended();
  expectError(piped, /^usher: The program that reads the backup ended before the backup did\./);

  expectError(await run(source, ['restore', file]), /^usher: \S+one\.usher does not exist\. Check the path\. Nothing was restored\./); // prettier-ignore
  await backUp(source, file);
  const limited = await run(target, ['restore', file], { maxBlocks: 200 });
  expectError(
    limited,
    /^usher: The storage of uploaded files is full\. Free space on the disk of USHER_DATA_DIR.* Nothing was restored\.\n$/,
  );
  assert.deepEqual([await tablesOf(target.address), filesOnDisk(target.dataDir)], [0, []]);
  assert.equal(statSync(pathOnDisk(source.dataDir, id)).size, 1_000_000);
});

test('a restore from standard input that is interrupted restores nothing', async (t) => {
  const { source, target, file } = await open(t);
  await addFile(source, randomBytes(1_000_000));
  await backUp(source, file);
  const bytes = readFileSync(file);
  const usher = start(target, ['restore', '-'], { stdin: 'pipe' });
  usher.child.stdin?.write(bytes.subarray(0, -500_000));
  // It has written the rows and waits for the rest of the file.
  await until(() => filesOnDisk(target.dataDir).length > 0);
  await usher.stop('SIGTERM');
  expectError(usher, /^usher: Interrupted\. Nothing was restored\.$/m);
  assert.deepEqual([await tablesOf(target.address), filesOnDisk(target.dataDir)], [0, []]);

  // A process that is killed leaves the mark of an incoming file; the next restore is not disturbed.
  const killed = start(target, ['restore', '-'], { stdin: 'pipe' });
  killed.child.stdin?.write(bytes.subarray(0, -500_000));
  await until(() => filesOnDisk(target.dataDir).length > 0);
  await killed.stop('SIGKILL');
  await until(async () => (await tablesOf(target.address)) === 0);
  const again = start(target, ['restore', '-'], { stdin: 'pipe' });
  again.child.stdin?.end(bytes);
  await again.ended();
  assert.match(again.output, /^Restored \d+ rows and 1 files/, again.errors);
  const rows = await withSql(target.address, async (sql) => sql<{ id: string }[]>`SELECT id FROM files`);
  assert.deepEqual(filesOnDisk(target.dataDir), rows.map(({ id }) => id)); // prettier-ignore
});
