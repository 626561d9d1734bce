import { breakingFiles, breakingWarning } from '../platform/database/migrations/migration-log.ts';
import type { MigrationListener } from '../platform/database/migrations/migrations.ts';

/** What commands say about the migrations that they apply. Standard output is for their result. */
export function migrationsOnStderr(): MigrationListener {
  let isNew = false;
  return {
    onBegin(version, pending) {
      isNew = version === 0;
      const breaking = breakingFiles(version, pending);
      if (breaking.length > 0) process.stderr.write(`usher: ${breakingWarning}: ${breaking.join(', ')}\n`);
    },
    onRetry: ({ file }) => process.stderr.write(`usher: ${file} waits for a lock; trying again\n`),
    onApplied({ file, kind }, ms) {
      if (!isNew) process.stderr.write(`usher: migrated ${file} (${kind.compatibility}) in ${ms} ms\n`);
    },
  };
}
