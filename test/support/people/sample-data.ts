import assert from 'node:assert/strict';
import type { SiteId } from '../../../packages/server/src/platform/ids.ts';
import { call, until, type Json } from '../server.ts';
import { makeAccount, type ServerHandle, type TestAccount } from '../world.ts';

/** Runs the simulation at 20 times its speed, so that minutes take seconds. */
export const pace = { speed: 20, actEveryMs: 50 };
/** Long enough for events that happen at random, on a busy machine. */
export const patienceMs = 120_000;

export async function callSampleData(
  server: ServerHandle,
  who: TestAccount,
  action: 'GET' | 'POST' | 'DELETE',
): Promise<Json> {
  const answer = await call(server, `${action} /sample_data`, { token: who.admin });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

/** Creates an account with running sample data. */
export async function startSampleData(server: ServerHandle): Promise<{ who: TestAccount; site: SiteId }> {
  const who = await makeAccount(server);
  const { site_id: site } = await callSampleData(server, who, 'POST');
  return { who, site };
}

/** The number of rows of the site in a table. */
export async function countRows(server: ServerHandle, table: string, site: string, more = 'true'): Promise<number> {
  const { sql } = server.database;
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM ${sql(table)} WHERE site_id = ${site} AND ${sql.unsafe(more)}`;
  return row?.count ?? 0;
}

export async function removeSampleData(server: ServerHandle, who: TestAccount): Promise<void> {
  await callSampleData(server, who, 'DELETE');
  await until(async () => (await callSampleData(server, who, 'GET')).state === 'none', patienceMs);
}
