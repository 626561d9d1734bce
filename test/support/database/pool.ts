import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  connect,
  inTransaction,
  type DatabaseAddress,
} from '../../../packages/server/src/platform/database/database.ts';
import { slowness } from '../slowness.ts';

/** Far more than any statement here takes. Whatever waits longer hangs. */
export const patienceMs = 5_000;

type ClientOptions = Parameters<typeof connect>[1];

export function pool(t: TestContext, address: DatabaseAddress, options: ClientOptions = { max: 1 }) {
  const sql = connect(address, options);
  t.after(async () => sql.end({ timeout: 0 }));
  return sql;
}

export type Pool = ReturnType<typeof pool>;

export async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limitMs = patienceMs * slowness();
  const timer = setTimeout(() => reject(new Error(`no result after ${limitMs} ms`)), limitMs);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export async function echo(sql: Pool, n: number): Promise<unknown> {
  const rows = await withTimeout(sql`SELECT ${n}::integer AS n`.execute());
  return rows[0]?.['n'];
}

/** Asserts that the pool works and that each statement gets its own result, in transactions and outside. */
export async function checkHealth(sql: Pool): Promise<void> {
  for (const n of [1, 2, 3]) assert.equal(await echo(sql, n), n);
  assert.deepEqual(await Promise.all([4, 5, 6].map(async (n) => echo(sql, n))), [4, 5, 6]);
  const [row] = await withTimeout(inTransaction(sql, async (own) => own`SELECT ${7}::integer AS n`));
  assert.equal(row?.['n'], 7);
  assert.equal(await echo(sql, 8), 8);
}

export async function backendOf(sql: Pick<Pool, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
  assert.ok(row);
  return row.pid;
}

export async function endBackend(killer: Pool, pid: number): Promise<void> {
  await killer`SELECT pg_terminate_backend(${pid}, ${patienceMs})`;
}

export const connectionClosed = { code: 'CONNECTION_CLOSED' };
