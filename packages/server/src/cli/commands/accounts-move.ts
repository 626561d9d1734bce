import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { exportAccount, type ExportSummary, type WhatToExport } from '../../account-moving/export-account.ts';
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
  help: `usher accounts export <id> <file|-> [--history | --move [--since <instant>]] [--without-files] [--json]

  Writes an account with everything in it: people, configuration, history, waiting deliveries and files. "usher accounts
  import" adds it to another installation with the same version of Usher. The file contains secrets, so only its owner can
  read it. With - it is written to standard output.

  --move            stop the account first, so that nothing is lost or sent twice: its deliveries are held, then every
                    change of it is answered with 503 until the other installation answers. If the export fails, the
                    account goes on here
  --history         only write what is older than an hour and does not change: messages of ended conversations, and the logs.
                    Import it there in advance, so that less is left to be moved
  --since <instant> with --move: leave out that history. The instant is the one that --history printed
  --without-files   leave out the bytes of uploaded files: both installations have them in the same bucket
  --json            print the result as JSON
`,
  options: {
    history: { type: 'boolean', default: false },
    move: { type: 'boolean', default: false },
    since: { type: 'string' },
    'without-files': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  arguments: ['<id>', '<file|->'],
  async run(config, { 'without-files': withoutFiles, json, ...flags }, id = '', file = '') {
    const what = whatToExport(flags);
    const { onProgress, done } = progressOnStderr('Exporting');
    const write = async (to: NodeJS.WritableStream, keep: () => Promise<void>): Promise<ExportSummary> =>
      interruptible(notExported, async (signal) =>
        withMigrated(config, async ({ database, diskSpace }) => {
          const account = await findAccount(database.sql, id);
          const fileStore = openFileStore(config, createLog('silent'), diskSpace);
          const options = { account, what, hasFiles: !withoutFiles, keep };
          return exportAccount({ ...options, database, fileStore, to, signal, onProgress });
        }),
      );
    try {
      const summary = file === '-' ? await toStandardOutput(write, json) : await writeNewFile(file, 'export', write);
      if (file !== '-') await report(summary, { id, file, part: what.part, json });
      reportMissing(summary);
    } catch (error) {
      throw describeFault(error, 'export', file);
    } finally {
      done();
    }
  },
});

interface WhatFlags {
  readonly history: boolean;
  readonly move: boolean;
  readonly since?: string | undefined;
}

function whatToExport({ history, move, since }: WhatFlags): WhatToExport {
  if (history && (move || since !== undefined)) throw new UsageError('--history goes with neither --move nor --since.');
  if (since === undefined) return { part: history ? 'history' : move ? 'move' : 'copy' };
  if (!move) throw new UsageError('--since needs --move.');
  const boundary = Date.parse(since);
  if (Number.isNaN(boundary))
    throw new UsageError('--since must be the instant that --history printed, such as 2027-01-31T09:30:00.000Z.');
  return { part: 'rest', boundary };
}

type Write = (to: NodeJS.WritableStream, keep: () => Promise<void>) => Promise<ExportSummary>;

async function toStandardOutput(write: Write, json: boolean): Promise<ExportSummary> {
  if (process.stdout.isTTY)
    throw new UsageError('An export is not text for a terminal. Name a file, or redirect the output.');
  if (json) throw new UsageError('--json needs a file: standard output is the export itself.');
  return write(process.stdout, async () => undefined);
}

interface Exported {
  readonly id: string;
  readonly file: string;
  readonly part: WhatToExport['part'];
  readonly json: boolean;
}

async function report(summary: ExportSummary, { id, file, part, json }: Exported): Promise<void> {
  const { rows, files, bytes, boundary } = summary;
  const { size } = await stat(file);
  const since = boundary === null ? null : new Date(boundary).toISOString();
  const line = `Exported ${rows} rows and ${files} files (${formatBytes(bytes)}) to ${file} (${formatBytes(size)}).\n`;
  print(json, { id, file, size, part, since, rows, files, bytes }, `${line}${nextStep(part, id, since)}`);
}

function nextStep(part: WhatToExport['part'], id: string, since: string | null): string {
  switch (part) {
    case 'copy':
      return '';
    case 'history':
      return `Import the file there, and then: usher accounts export ${id} <file> --move --since ${since}\n`;
    case 'move':
    case 'rest':
      return `The account is stopped here. Import the file there, lead its requests there, and then: usher accounts disable ${id}\nIf it stays here after all: usher accounts enable ${id} --stays\n`;
  }
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
  installation works for the account and sends its webhooks, unless the file has only its history. With - the export is read from standard input.

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
      const { name, part, rows, files, awayMs } = summary;
      const whose = part === 'history' ? `the history of account "${name}"` : `account "${name}"`;
      const away = awayMs === null ? '' : ` It was stopped for ${(awayMs / 1_000).toFixed(1)} s.`;
      print(json, summary, `Imported ${whose}: ${rows} rows and ${files} files.${away}\n`);
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
