import { randomUUID } from 'node:crypto';
import { connect, type DatabaseAddress } from '../../packages/server/src/platform/database.ts';

function socket(database: string): DatabaseAddress {
  const directory = process.env['TEST_DATABASE_SOCKET'];
  if (directory === undefined) throw new Error('run tests with npm test, or npm test -- <file>');
  return { kind: 'socket', directory, user: 'usher', database };
}

/** A migrated database of the caller's own. It goes with the test run's data directory. */
export async function cloneDatabase(): Promise<DatabaseAddress> {
  return createDatabase('template_usher');
}

/** A database with nothing in it. */
export async function emptyDatabase(): Promise<DatabaseAddress> {
  return createDatabase('template1');
}

async function createDatabase(template: string): Promise<DatabaseAddress> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(socket('postgres'), { max: 1 });
  try {
    await admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(template)} STRATEGY file_copy`;
  } finally {
    await admin.end();
  }
  return socket(name);
}
