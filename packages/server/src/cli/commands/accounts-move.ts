import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { exportAccount } from '../../account-moving/export-account.ts';
import { importAccount } from '../../account-moving/import-account.ts';
import { checkBackup } from '../../backup/check-backup.ts';
import { describeFault } from '../../backup/describe-fault.ts';
import type { BackupSummary } from '../../backup/write-backup.ts';
import type { Config } from '../../config.ts';
import { openFileStore } from '../../engagements/files/open-file-store.ts';
import { createLog } from '../../platform/log.ts';
import { command, print, UsageError } from '../command.ts';
import { interruptible } from '../interruptible.ts';
import { writeNewFile } from '../new-file.ts';
import { formatBytes, progressOnStderr } from '../progress.ts';
import { withMigrated } from '../with-database.ts';
import { findAccount } from './accounts.ts';

const notExported = 'The account was not exported, and goes on here.';

export const accountsExport = command({
  help: `usher accounts export <id> <file|-> [--move] [--without-files] [--json]

  Writes an account with everything in it: people, configuration, history, waiting deliveries and files. "usher accounts
  import" adds it to another installation with the same version of Usher. The file contains secrets, so only its owner can
  read it. With - it is written to standard output.

  --move            stop the account first, so that nothing is lost or sent twice: its deliveries are held, then every
                    change of it is answered with 503 until the other installation answers. If the export fails, the
                    account goes on here
  --without-files   leave out the bytes of uploaded files: both installations have them in the same bucket
  --json            print the result as JSON
`,
  options: {
    move: { type: 'boolean', default: false },
    'without-files': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  arguments: ['<id>', '<file|->'],
  async run(config, { move: isMove, 'without-files': withoutFiles, json }, id = '', file = '') {
    const { onProgress, done } = progressOnStderr('Exporting');
    const write = async (to: NodeJS.WritableStream, keep: () => Promise<void>): Promise<BackupSummary> =>
      interruptible(notExported, async (signal) =>
        withMigrated(config, async ({ database, diskSpace }) => {
          const account = await findAccount(database.sql, id);
          const fileStore = openFileStore(config, createLog('silent'), diskSpace);
          const options = { account, isMove, hasFiles: !withoutFiles, keep };
          return exportAccount({ ...options, database, fileStore, to, signal, onProgress });
        }),
      );
    try {
      const summary = file === '-' ? await toStandardOutput(write, json) : await writeNewFile(file, 'export', write);
      if (file !== '-') await report(summary, { id, file, isMove, json });
      reportMissing(summary);
    } catch (error) {
      throw describeFault(error, 'export', file);
    } finally {
      done();
    }
  },
});

type Write = (to: NodeJS.WritableStream, keep: () => Promise<void>) => Promise<BackupSummary>;

async function toStandardOutput(write: Write, json: boolean): Promise<BackupSummary> {
  if (process.stdout.isTTY)
    throw new UsageError('An export is not text for a terminal. Name a file, or redirect the output.');
  if (json) throw new UsageError('--json needs a file: standard output is the export itself.');
  return write(process.stdout, async () => undefined);
}

interface Exported {
  readonly id: string;
  readonly file: string;
  readonly isMove: boolean;
  readonly json: boolean;
}

async function report(summary: BackupSummary, { id, file, isMove, json }: Exported): Promise<void> {
  const { rows, files, bytes } = summary;
  const { size } = await stat(file);
  const next = isMove
    ? `The account is stopped here. Import the file there, lead its requests there, and then: usher accounts disable ${id}\nIf it stays here after all: usher accounts enable ${id} --stays\n`
    : '';
  const line = `Exported ${rows} rows and ${files} files (${formatBytes(bytes)}) to ${file} (${formatBytes(size)}).\n${next}`;
  print(json, { id, file, size, moving: isMove, rows, files, bytes }, line);
}

function reportMissing({ missing }: BackupSummary): void {
  if (missing.length === 0) return;
  process.stderr.write(
    `usher: The export lacks the bytes of ${missing.length} files, such as ${missing[0]}: they are not where USHER_FILES and USHER_DATA_DIR say.\n`,
  );
  process.exitCode = 1;
}

export const accountsImport = command({
  help: `usher accounts import <file|-> [--json]

  Adds an exported account to this installation, which may be in use. All of it is imported, or nothing. From then on this
  installation works for the account and sends its webhooks. With - the export is read from standard input.

  --json   print the result as JSON
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<file|->'],
  async run(config, { json }, file = '') {
    const { onProgress, done } = progressOnStderr('Importing');
    try {
      const summary = await interruptible('Nothing was imported.', async (signal) =>
        importFrom(config, file, { signal, onProgress }),
      );
      done();
      const { name, rows, files, awayMs } = summary;
      const away = awayMs === null ? '' : ` It was stopped for ${(awayMs / 1_000).toFixed(1)} s.`;
      print(json, summary, `Imported account "${name}": ${rows} rows and ${files} files.${away}\n`);
    } catch (error) {
      done();
      throw describeFault(error, 'import', file);
    }
  },
});

type Watched = Pick<Parameters<typeof importAccount>[0], 'signal' | 'onProgress'>;

async function importFrom(config: Config, file: string, { signal, onProgress }: Watched) {
  // A file can be read twice: a damaged one is refused before rows are written.
  if (file !== '-')
    await checkBackup(createReadStream(file), { format: 'account', signal, onProgress: () => undefined });
  return withMigrated(config, async ({ database, diskSpace }) => {
    const fileStore = openFileStore(config, createLog('silent'), diskSpace);
    const from = file === '-' ? process.stdin : createReadStream(file);
    return importAccount({ database, fileStore, from, signal, onProgress });
  });
}
