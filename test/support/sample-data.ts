import assert from 'node:assert/strict';
import type { SiteId } from '../../packages/server/src/platform/ids.ts';
import { call, until, type Json } from './server.ts';
import { makeAccount, type Reached, type TestAccount } from './world.ts';

/** Twenty times as fast as people live: what takes minutes is seen in seconds. */
export const pace = { speed: 20, actEveryMs: 50 };
/** For what has to happen by chance, on a machine that is busy. */
export const patienceMs = 120_000;

export async function sample(server: Reached, who: TestAccount, action: 'GET' | 'POST' | 'DELETE'): Promise<Json> {
  const answer = await call(server, `${action} /sample_data`, { token: who.admin });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

/** An account with sample data in motion. */
export async function started(server: Reached): Promise<{ who: TestAccount; site: SiteId }> {
  const who = await makeAccount(server);
  const { site_id: site } = await sample(server, who, 'POST');
  return { who, site };
}

/** Rows of the site. */
export async function count(server: Reached, table: string, site: string, more = 'true'): Promise<number> {
  const { sql } = server.database;
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM ${sql(table)} WHERE site_id = ${site} AND ${sql.unsafe(more)}`;
  return row?.count ?? 0;
}

export async function removed(server: Reached, who: TestAccount): Promise<void> {
  await sample(server, who, 'DELETE');
  await until(async () => (await sample(server, who, 'GET')).state === 'none', patienceMs);
}
