import type { Config } from '../config.ts';
import { ensureSigningKey } from '../identity/signing-keys.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';
import { migrate } from '../platform/database/migrations/migrations.ts';
import { joinStorage, type Storage } from '../storage.ts';
import { migrationsOnStderr } from './migration-notes.ts';

export async function withStorage<T>(config: Config, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await joinStorage(config);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

export async function withMigrated<T>(config: Config, work: (storage: Storage) => Promise<T>): Promise<T> {
  return withStorage(config, async (storage) => {
    await migrate(storage.database, ensureSigningKey, { mode: config.migrate, ...migrationsOnStderr() });
    return work(storage);
  });
}

/** Runs `work` on the migrated database, in one transaction. */
export async function withDatabase<T>(config: Config, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withMigrated(config, async ({ database }) => inTransaction(database.sql, work));
}
