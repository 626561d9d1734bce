import { insertOperator } from '../../../packages/server/src/identity/operators/store.ts';
import { newOperator } from '../../../packages/server/src/identity/operators/operator.ts';
import { siteFields } from '../../../packages/server/src/identity/sites/site.ts';
import { insertSite } from '../../../packages/server/src/identity/sites/store.ts';
import { insertVisitor } from '../../../packages/server/src/identity/visitors/store.ts';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import {
  newId,
  type AccountId,
  type OperatorId,
  type QueueId,
  type SiteId,
  type VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import { completeQueue } from '../../../packages/server/src/queues/queue.ts';
import { insertQueue } from '../../../packages/server/src/queues/store.ts';
import { queueFields } from '../world.ts';

/** The account of one history. */
export interface SimulatedAccount {
  readonly id: AccountId;
  readonly siteId: SiteId;
  readonly queues: readonly QueueId[];
  readonly operators: readonly OperatorId[];
  readonly visitors: readonly VisitorId[];
}

/** How many engagements an operator may have at once. */
export const operatorCapacity = 2;

export async function createSimulatedAccount(sql: Sql): Promise<SimulatedAccount> {
  const id = newId<AccountId>();
  const siteId = newId<SiteId>();
  const ids = <Kind extends string>(count: number): Kind[] => Array.from({ length: count }, () => newId<Kind>());
  const account = {
    id,
    siteId,
    queues: ids<QueueId>(2),
    operators: ids<OperatorId>(3),
    visitors: ids<VisitorId>(6),
  };
  await sql`INSERT INTO accounts (id, name) VALUES (${id}, 'Simulated')`;
  for (const [index, operatorId] of account.operators.entries()) {
    const given = { name: 'Operator', email: `${index}@test`, max_engagement_count: operatorCapacity } as const;
    await insertOperator(sql, operatorId, id, newOperator(given));
    if (index === 0) {
      const settings = siteFields.complete({ name: 'Site' }, null);
      await insertSite(sql, { id: siteId, accountId: id, settings, creator: operatorId });
    } else
      await sql`
        INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
        VALUES (${id}, ${operatorId}, ${siteId}, 'operator')`;
  }
  await sql`UPDATE operators SET available = true, media = '{text}' WHERE account_id = ${id}`;
  for (const queueId of account.queues) {
    const queue = completeQueue(
      { ...queueFields, when_unstaffed: 'accept' } as Parameters<typeof completeQueue>[0],
      null,
    );
    await insertQueue(sql, { id: queueId, accountId: id, siteId }, queue);
  }
  for (const visitorId of account.visitors)
    await insertVisitor(sql, { id: visitorId, accountId: id, siteId, name: null, teamIds: [] });
  return account;
}

/** No process looks for what is due in an account that is disabled. */
export async function retire(sql: Sql, { id }: SimulatedAccount): Promise<void> {
  await sql`UPDATE accounts SET disabled_at = clock_timestamp() WHERE id = ${id}`;
}

/** Deletes all accounts, so that a history can run again: its ids follow from its seed. */
export async function deleteAccounts(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    SELECT c.oid::regclass::text AS name
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attname = 'account_id' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace`;
  await sql.unsafe(`TRUNCATE accounts, ${tables.map(({ name }) => name).join(', ')} CASCADE`);
}
