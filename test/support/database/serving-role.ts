import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { cloneDatabase } from './database.ts';

/** The role in the guide that serves. */
const inGuide = 'usher_serve';

/** The statements of docs/guide/database.md that give a role what it needs to serve. */
export function grantsTo(role: string): string {
  const page = readFileSync('docs/guide/database.md', 'utf8');
  const block = [...page.matchAll(/```sql\n([\s\S]*?)```/g)]
    .map(([, sql = '']) => sql)
    .find((sql) => sql.includes('GRANT'));
  assert.ok(block !== undefined, 'the guide has the statements');
  return block.replaceAll(inGuide, role);
}

/** A migrated database for the caller, and the address of a role that has only these rights in it. */
export async function cloneForServing(): Promise<DatabaseAddress> {
  const address = await cloneDatabase();
  assert.ok(address.kind === 'socket');
  const role = `serve_${randomUUID().replaceAll('-', '')}`;
  const owner = connect(address, { max: 1 });
  try {
    await owner.unsafe(`CREATE ROLE ${role} LOGIN`);
    await owner.unsafe(grantsTo(role));
  } finally {
    await owner.end();
  }
  return { ...address, user: role };
}
