import type { Log } from '../../log.ts';
import type { MigrationListener, PendingMigration } from './migrations.ts';

/** What a breaking upgrade means for whoever runs it. It is said before the first migration. */
export const breakingWarning =
  'this upgrade has breaking migrations: processes of the version before must have stopped, and cannot use the database afterwards';

export function breakingFiles(version: number, pending: readonly PendingMigration[]): readonly string[] {
  // Nothing uses a new database yet.
  return version === 0 ? [] : pending.filter(({ kind }) => kind.compatibility === 'breaking').map(({ file }) => file);
}

/** Logs the migrations of a start: a line for each, and a warning before breaking ones. A new database has one line for all. */
export function logMigrations(log: Log): MigrationListener {
  let isNew = false;
  return {
    onBegin(version, pending) {
      isNew = version === 0;
      const to = pending.at(-1)?.number;
      const breaking = breakingFiles(version, pending);
      if (isNew) log.info({ schema: to }, 'creating the schema of a new database');
      if (breaking.length > 0) log.warn({ from: version, to, breaking }, breakingWarning);
    },
    onRetry: ({ file }) => log.warn({ migration: file }, 'a migration waits for a lock; trying again'),
    onApplied: ({ file, kind }, ms) =>
      log[isNew ? 'debug' : 'info']({ migration: file, kind: kind.compatibility, ms }, 'migrated'),
  };
}
