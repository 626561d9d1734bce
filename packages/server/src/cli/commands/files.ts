import { bucketName } from '../../config-files.ts';
import { FileBucket } from '../../engagements/files/bucket/bucket.ts';
import { reasonOf } from '../../engagements/files/bucket/bucket-client.ts';
import { FileDisk } from '../../engagements/files/disk.ts';
import { moveFiles } from '../../engagements/files/bucket/move-files.ts';
import { StartError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { command, print } from '../command.ts';
import { interruptible } from '../interruptible.ts';
import { formatBytes, progressOnStderr } from '../progress.ts';
import { withStorage } from '../with-database.ts';

const goesOn = 'What was moved stays moved. Run the command again to go on.';

export const filesMove = command({
  help: `usher files move [--verify] [--resume] [--json]

  Moves uploaded files from USHER_DATA_DIR to the bucket that USHER_FILES names. Everybody can use the service meanwhile, and every file is
  served throughout. First set USHER_FILES for all processes: one that does not know the bucket cannot serve what was moved.

  --verify   read each file from the bucket, and compare it with what was uploaded, before it is removed from the disk
  --resume   go on after an interruption; the command does so without it too, as files that were moved are no longer on the disk
  --json     print the result as JSON
`,
  options: {
    verify: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  async run(config, { verify, json }) {
    const { files, dataDir } = config;
    if (files.kind !== 's3')
      throw new StartError('USHER_FILES names no bucket. Set it, as for the server: s3://bucket/prefix.');
    const name = bucketName(files);
    const log = createLog('silent');
    const from = new FileDisk(dataDir, log);
    const { onProgress, done } = progressOnStderr('Moving');
    const summary = await interruptible(goesOn, async (signal) =>
      withStorage(config, async ({ database: { sql } }) => {
        const to = new FileBucket(files, from, log);
        const onMoved = (at: string, bytes: number): void => onProgress({ at, bytes, totalBytes: null });
        return moveFiles({ sql, from, to, isVerified: verify, signal, onMoved });
      }),
    )
      .catch((error: unknown) => {
        if (error instanceof StartError) throw error;
        throw new StartError(`Files cannot be moved from ${dataDir} to ${name} (${reasonOf(error)}). ${goesOn}`, {
          cause: error,
        });
      })
      .finally(done);
    const { moved, bytes, unknown, damaged } = summary;
    const left = unknown === 0 ? '' : `${unknown} files in USHER_DATA_DIR belong to no conversation, and stay there.\n`;
    print(json, summary, `Moved ${moved} files (${formatBytes(bytes)}) to ${name}.\n${left}`);
    if (damaged.length === 0) return;
    process.stderr.write(
      `usher: ${damaged.length} files, such as ${damaged[0]}, are not in the bucket as they were uploaded. They stay in USHER_DATA_DIR; if they are damaged there, restore them from a backup.\n`,
    );
    process.exitCode = 1;
  },
});
