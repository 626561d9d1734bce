import { createReadStream } from 'node:fs';
import { checkBackup } from '../../backup/check-backup.ts';
import { describeFault } from '../../backup/describe-fault.ts';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { openFileStore } from '../../engagements/files/open-file-store.ts';
import { createLog } from '../../platform/log.ts';
import { command, print } from '../command.ts';
import { interruptible } from '../interruptible.ts';
import { progressOnStderr } from '../progress.ts';
import { withStorage } from '../with-database.ts';

export const restore = command({
  help: `usher restore <file|-> [--json]

  Restores a backup into the empty database that DATABASE_URL names, or into the embedded database of an empty
  USHER_DATA_DIR, and its files into the file store. All of it is restored, or nothing. With - the backup is read from
  standard input. Stop the Usher that the backup came from before you start this one: both would deliver webhooks.

  --json   print the result as JSON
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<file|->'],
  async run(config, { json }, file = '') {
    const checking = progressOnStderr('Checking');
    const restoring = progressOnStderr('Restoring');
    try {
      const [summary, location] = await interruptible('Nothing was restored.', async (signal) => {
        // A file can be read twice: a damaged one is refused before a long restore begins.
        if (file !== '-') await checkBackup(createReadStream(file), { signal, onProgress: checking.onProgress });
        checking.done();
        return withStorage(config, async ({ database, diskSpace, location: where }) => {
          const fileStore = openFileStore(config, createLog('silent'), diskSpace);
          const from = file === '-' ? process.stdin : createReadStream(file);
          const { onProgress } = restoring;
          return [await restoreBackup({ database, fileStore, from, signal, onProgress }), where] as const;
        });
      });
      restoring.done();
      const { rows, files, created_at } = summary;
      const line = `Restored ${rows} rows and ${files} files, as of ${created_at}, into ${location}.\n`;
      print(json, { location, ...summary }, line);
    } catch (error) {
      checking.done();
      restoring.done();
      throw describeFault(error, 'restore', file);
    }
  },
});
