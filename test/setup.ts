import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyCluster } from './support/database/embedded-cluster.ts';
import { startTestPostgres, type TestPostgres } from './support/database/test-postgres.ts';

/** Run once for the whole test run: one PostgreSQL, with a migrated database that every test file clones. */
let postgres: TestPostgres | null = null;
const dataDir = mkdtempSync(join(tmpdir(), 'usher-test-'));

export async function globalSetup(): Promise<void> {
  await createEmptyCluster(join(dataDir, 'empty'));
  postgres = await startTestPostgres(
    join(dataDir, 'shared'),
    process.env['TEST_POSTGRES'] === 'oldest' ? 'oldest' : 'newest',
  );
  // Test files run in processes of their own, which inherit this.
  Object.assign(process.env, postgres.environment);
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
