import { randomUUID } from 'node:crypto';
import { connect, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';

function socket(database: string): DatabaseAddress {
  const directory = process.env['TEST_DATABASE_SOCKET'];
  if (directory === undefined) throw new Error('run tests with npm test, or npm test -- <file>');
  return { kind: 'socket', directory, user: 'usher', database };
}

/** Creates a migrated database for the caller. It is deleted with the data directory of the test run. */
export async function cloneDatabase(): Promise<DatabaseAddress> {
  return createDatabase('template_usher');
}

/** Creates an empty database. */
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
