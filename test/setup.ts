import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, openDatabase, type DatabaseAddress } from '../packages/server/src/platform/database.ts';
import { startEmbeddedPostgres } from '../packages/server/src/platform/embedded-postgres.ts';
import { ensureSigningKey } from '../packages/server/src/identity/signing-keys.ts';
import { migrate } from '../packages/server/src/platform/migrations.ts';
import { startOldestPostgres } from './support/oldest-postgres.ts';

/**
 * Run once for the whole test run: one PostgreSQL, with a migrated database that every test file clones. It is the embedded
 * one, which is the newest, or, with TEST_POSTGRES=oldest, the oldest that Usher supports.
 */
let postgres: { readonly address: DatabaseAddress; stop(): Promise<void> } | null = null;
const dataDir = mkdtempSync(join(tmpdir(), 'usher-test-'));

const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' };

export async function globalSetup(): Promise<void> {
  const isOldest = process.env['TEST_POSTGRES'] === 'oldest';
  postgres = await (isOldest ? startOldestPostgres(dataDir, settings) : startEmbeddedPostgres(dataDir, settings));
  if (postgres.address.kind !== 'socket') throw new Error('the embedded database is reached by socket');
  const admin = connect(postgres.address, { max: 1 });
  await admin`CREATE DATABASE template_usher`;
  await admin.end();
  const template = openDatabase({ ...postgres.address, database: 'template_usher' }, 2);
  await migrate(template, ensureSigningKey);
  await template.close();
  // Test files run in processes of their own, which inherit this.
  process.env['TEST_DATABASE_SOCKET'] = postgres.address.directory;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
