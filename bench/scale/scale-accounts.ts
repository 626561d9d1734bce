import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { vacuumAndCheckpoint, withDatabase } from '../measuring/databases.ts';
import type { Entry } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { startCluster } from './scale-cluster.ts';
import { openLanes } from './scale-lanes.ts';
import { flat, loadFigures, measureLoad, warmUp } from './scale-load.ts';
import { Receiver } from '../webhooks/webhook-receiver.ts';

interface AccountNumbers {
  /** Accounts with a part of the load. */
  readonly active: number;
  /** Accounts without any. */
  readonly idle: number;
}

const sizes: Readonly<Record<Size, { readonly accounts: readonly AccountNumbers[]; readonly lanes: number }>> = {
  full: {
    accounts: [
      { active: 1, idle: 0 },
      { active: 60, idle: 40 },
      { active: 60, idle: 9_940 },
    ],
    lanes: 60,
  },
  short: { accounts: [{ active: 1, idle: 20 }], lanes: 1 },
};

/** The cost of the same load, spread over more accounts, in a database with many idle ones. */
export const scaleAccounts: Entry = {
  name: 'scale-accounts',
  async prepare({ scope, size, ...lab }) {
    const { accounts, lanes: allLanes } = sizes[size];
    const databases = await lab.startCountingDatabases();
    const receiver = new Receiver(scope);
    const [webhookUrl = ''] = await receiver.listen(1);
    const prepared = [];
    for (const { active, idle } of accounts) {
      const count = active + idle;
      const cluster = await startCluster(scope, databases, { name: `accounts_${count}`, processes: 1 });
      await withDatabase(cluster.databaseUrl, async (sql) => insertIdleAccounts(sql, idle));
      const lanes = await openLanes(cluster, { accounts: active, lanesEach: allLanes / active });
      await vacuumAndCheckpoint(cluster.databaseUrl);
      const load = { cluster, lanes, receiver, webhookUrl, size };
      await warmUp(load);
      const measure = async () => measureLoad(load);
      prepared.push({ name: count === 1 ? '1 account' : `${count.toLocaleString('en')} accounts`, measure });
    }
    return [{ figures: loadFigures, sizes: prepared, atMost: flat }];
  },
};

/** Copies of the first account, each with a site, an operator, a queue and a registered webhook. */
async function insertIdleAccounts(sql: Sql, count: number): Promise<void> {
  await sql`
    CREATE TEMP TABLE idle AS
    SELECT md5('account ' || n)::uuid AS id, s.account_id AS copied_id, s.id AS copied_site_id, a.operator_id AS copied_operator_id
      FROM generate_series(1, ${count}::integer) n,
           (SELECT id, account_id FROM sites LIMIT 1) s
      JOIN operator_assignments a ON a.site_id = s.id`;
  await sql`INSERT INTO accounts (id, name) SELECT id, 'Idle' FROM idle`;
  // The account, its site, its operator and its queue have the same id.
  await sql`
    INSERT INTO sites
    SELECT (jsonb_populate_record(s, jsonb_build_object('id', i.id, 'account_id', i.id))).*
      FROM idle i JOIN sites s ON s.id = i.copied_site_id`;
  await sql`
    INSERT INTO operators
    SELECT (jsonb_populate_record(o, jsonb_build_object('id', i.id, 'account_id', i.id))).*
      FROM idle i JOIN operators o ON o.id = i.copied_operator_id`;
  await sql`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    SELECT id, id, id, 'super_manager' FROM idle`;
  await sql`
    INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed, operator_ranking_enabled)
    SELECT id, id, id, 'Queue', '{"type":"fixed","capacity":10}', '{}', 'accept', false FROM idle`;
  await sql`INSERT INTO destinations (id, account_id, origin) SELECT id, id, 'https://127.0.0.1:9' FROM idle`;
  await sql`
    INSERT INTO webhooks (id, account_id, destination_id, url, method, headers, events, hears)
    SELECT id, id, id, 'https://127.0.0.1:9/hook', 'POST', '{}', '{engagement.start}', '{engagement.start}' FROM idle`;
}
