import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { checkBackup } from '../../backup/check-backup.ts';
import { describeFault } from '../../backup/describe-fault.ts';
import { writeBackup, type BackupSummary } from '../../backup/write-backup.ts';
import type { Config } from '../../config.ts';
import { openFileStore } from '../../engagements/files/open-file-store.ts';
import { createLog } from '../../platform/log.ts';
import { command, print, UsageError } from '../command.ts';
import { interruptible } from '../interruptible.ts';
import { writeNewFile } from '../new-file.ts';
import { formatBytes, progressOnStderr } from '../progress.ts';
import { withStorage } from '../with-database.ts';

export const backup = command({
  help: `usher backup <file|-> [--check] [--json]

  Writes a backup of the database and of all uploaded files. The service may run meanwhile: the backup has everything as of
  one instant. It contains secrets, such as signing keys, so only its owner can read the file. With - it is written to
  standard output. "usher restore" restores it, into any PostgreSQL from version 15 on.

  --check   change nothing; check that the file is a complete, undamaged backup
  --json    print the result as JSON
`,
  options: { check: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  arguments: ['<file|->'],
  async run(config, { check, json }, file = '') {
    if (check) return checkFile(file, json);
    const summary = file === '-' ? await toStandardOutput(config, json) : await toFile(config, file);
    const { rows, files, bytes, missing } = summary;
    if (file !== '-') {
      const { size } = await stat(file);
      const line = `Backed up ${rows} rows and ${files} files (${formatBytes(bytes)}) to ${file} (${formatBytes(size)}).\n`;
      print(json, { file, size, ...summary }, line);
    }
    if (missing.length > 0) {
      process.stderr.write(
        `usher: The backup lacks the bytes of ${missing.length} files, such as ${missing[0]}: they are not where USHER_FILES and USHER_DATA_DIR say. Run the command on a machine that has them, with the settings of the server.\n`,
      );
      process.exitCode = 1;
    }
  },
});

async function checkFile(file: string, json: boolean): Promise<void> {
  const { onProgress, done } = progressOnStderr('Checking');
  try {
    const from = file === '-' ? process.stdin : createReadStream(file);
    const found = await interruptible('The backup was not checked.', async (signal) =>
      checkBackup(from, { signal, onProgress }),
    );
    done();
    const { usher, postgres, schema, created_at, rows, files, bytes } = found;
    print(
      json,
      { file, ...found },
      `The backup is complete: ${rows} rows and ${files} files (${formatBytes(bytes)}), made on ${created_at} by Usher ${usher} (schema version ${schema}) from PostgreSQL ${postgres}.\n`,
    );
  } catch (error) {
    done();
    throw describeFault(error, 'check', file);
  }
}

async function toStandardOutput(config: Config, json: boolean): Promise<BackupSummary> {
  if (process.stdout.isTTY)
    throw new UsageError('A backup is not text for a terminal. Name a file, or redirect the output.');
  if (json) throw new UsageError('--json needs a file: standard output is the backup itself.');
  return write(config, '-', process.stdout);
}

async function toFile(config: Config, file: string): Promise<BackupSummary> {
  return writeNewFile(file, 'backup', async (to, keep) => {
    const summary = await write(config, file, to);
    await keep();
    return summary;
  });
}

async function write(config: Config, file: string, to: NodeJS.WritableStream): Promise<BackupSummary> {
  const { onProgress, done } = progressOnStderr('Backing up');
  try {
    return await interruptible('No backup was made.', async (signal) =>
      withStorage(config, async ({ database, diskSpace }) => {
        const fileStore = openFileStore(config, createLog('silent'), diskSpace);
        return writeBackup({ database, fileStore, to, signal, onProgress });
      }),
    );
  } catch (error) {
    throw describeFault(error, 'backup', file);
  } finally {
    done();
  }
}
