import { batchSize, byIndex, deleteMatching, inBatches } from '../platform/database/batches.ts';
import type { SqlFragment, Sql } from '../platform/database/database.ts';
import { isUuid, type AccountId } from '../platform/ids.ts';

/** What the rows of an account are found by: `site` stands for the column `site_id`. */
export type Owner = 'account' | 'site' | 'operator' | 'queue' | 'destination' | 'webhook';

export interface OwnTable {
  readonly table: string;
  readonly of: Owner;
  /** The condition of a partial index, which begins with AND. */
  readonly and?: string;
  /** Rows of one batch, if not as many as usual. */
  readonly limit?: number;
}

/** Few deliveries: one may have been attempted many times, and the log has a row for each attempt. */
const deliveryBatch = 250;

const ownerTables: Readonly<Record<Exclude<Owner, 'account'>, readonly string[]>> = {
  site: ['sites', 'deleted_sites'],
  operator: ['operators'],
  queue: ['queues', 'deleted_queues'],
  destination: ['destinations'],
  webhook: ['webhooks'],
};

/** A query, as text, of the ids of the account's sites, operators and so on. Sites and queues include deleted ones that still have rows. */
export function ownersOf(owner: Owner, accountId: AccountId): string {
  if (!isUuid(accountId)) throw new Error('the id of an account is not a UUID');
  if (owner === 'account') return `SELECT '${accountId}'::uuid AS id`;
  return ownerTables[owner]
    .map((table) => `SELECT id FROM ${table} WHERE account_id = '${accountId}'`)
    .join(' UNION ALL ');
}

/** Before every id. */
const noId = '00000000-0000-0000-0000-000000000000';

/** Calls `visit` with all ids of one kind, a page at a time. */
export async function forOwners(
  pool: Sql,
  { of, accountId }: { readonly of: Owner; readonly accountId: AccountId },
  visit: (ids: readonly string[]) => Promise<unknown>,
): Promise<void> {
  let after: string | null = noId;
  do {
    const from: string = after;
    const rows = await byIndex(
      pool,
      async (sql) => sql<{ id: string }[]>`
        SELECT id FROM (${sql.unsafe(ownersOf(of, accountId))}) AS owners WHERE id > ${from} ORDER BY id LIMIT ${batchSize}`,
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await visit(ids);
    after = ids.length === batchSize ? (ids.at(-1) ?? null) : null;
  } while (after !== null);
}

const always = (): boolean => true;

/** Deletes the account's rows of a table in batches. Returns their number. */
export async function deleteRows(
  sql: Sql,
  { table, of, and, limit = batchSize }: OwnTable,
  accountId: AccountId,
): Promise<number> {
  let total = 0;
  const partitions = await partitionsOf(sql, table);
  await forOwners(sql, { of, accountId }, async (ids) => {
    for (const partition of partitions)
      await deleteMatching(
        sql,
        {
          table: partition,
          limit,
          where: (own) => own`${own(`${of}_id`)} = ANY(${ids}::uuid[]) ${own.unsafe(and ?? '')}`,
        },
        always,
        (rows) => {
          total += rows;
        },
      );
  });
  return total;
}

/** The partitions of a table, or the table itself if it has none. */
async function partitionsOf(sql: Sql, table: string): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT c.oid::regclass::text AS name
      FROM pg_class c
     WHERE c.relkind = 'r'
       AND (c.oid = ${table}::regclass OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ${table}::regclass))
     ORDER BY name`;
  return rows.map(({ name }) => name);
}

/** Which deliveries of an account one statement finds by its index. */
interface OwnDeliveries {
  readonly of: 'destination' | 'webhook';
  /** The deliveries of the owner with the id `owner.id`. */
  readonly ids: (sql: Sql) => SqlFragment;
}

const ownDeliveries: readonly OwnDeliveries[] = [
  {
    // Served by deliveries_fresh.
    of: 'destination',
    ids: (sql) => sql`
      SELECT d.id FROM deliveries d
       WHERE d.destination_id = owner.id AND d.state = 'pending' AND d.due_at IS NULL
       LIMIT ${deliveryBatch} FOR UPDATE`,
  },
  {
    // Served by deliveries_set_aside.
    of: 'webhook',
    ids: (sql) => sql`
      SELECT d.id FROM deliveries d
       WHERE d.webhook_id = owner.id AND (d.state <> 'pending' OR d.due_at IS NOT NULL)
       LIMIT ${deliveryBatch} FOR UPDATE`,
  },
  {
    // Served by delivery_log_by_webhook. Each delivery that is no longer waiting has a final row.
    of: 'webhook',
    ids: (sql) => sql`
      SELECT l.delivery_id AS id FROM delivery_log l WHERE l.webhook_id = owner.id AND l.final LIMIT ${deliveryBatch}`,
  },
];

/**
 * A batch of the owners' deliveries. The limit inside LATERAL makes the planner look up each owner on its own: without statistics it
 * would otherwise read all deliveries and compare each with all owners.
 */
async function findDeliveries(
  sql: Sql,
  ids: OwnDeliveries['ids'],
  owners: readonly string[],
): Promise<readonly string[]> {
  const found = await sql<{ id: string }[]>`
    SELECT d.id
      FROM unnest(${owners}::uuid[]) AS owner (id)
     CROSS JOIN LATERAL (${ids(sql)}) AS d
     LIMIT ${deliveryBatch}`;
  return found.map(({ id }) => id);
}

/**
 * Deletes the deliveries of the account with their rows of the log. The log has no index with all rows of a webhook, so they are found
 * by their deliveries. Finished deliveries come last: until their delivery is gone, a server may still send waiting ones.
 */
export async function deleteDeliveries(pool: Sql, accountId: AccountId): Promise<number> {
  let total = 0;
  for (const { of, ids } of ownDeliveries)
    await forOwners(pool, { of, accountId }, async (owners) =>
      inBatches(
        async () =>
          byIndex(pool, async (sql) => {
            const deliveries = await findDeliveries(sql, ids, owners);
            // For an empty array, PostgreSQL may read the whole of a partial index.
            if (deliveries.length === 0) return false;
            // Served by delivery_log_by_delivery.
            const logged = await sql`DELETE FROM delivery_log WHERE delivery_id = ANY(${deliveries}::uuid[])`;
            const waiting = await sql`DELETE FROM deliveries WHERE id = ANY(${deliveries}::uuid[])`;
            total += logged.count + waiting.count;
            return true;
          }),
        always,
      ),
    );
  return total;
}

/** A queue cannot be deleted while it is the fallback of another. */
export async function detachFallbacks(pool: Sql, accountId: AccountId, limit: number): Promise<void> {
  await inBatches(
    async () =>
      byIndex(pool, async (sql) => {
        const { count } = await sql`
          UPDATE queues SET fallback_queue_id = NULL
           WHERE id = ANY(ARRAY(SELECT id FROM queues
                                 WHERE account_id = ${accountId} AND fallback_queue_id IS NOT NULL
                                 LIMIT ${limit}))`;
        return count > 0;
      }),
    always,
  );
}

export async function deleteAccountRow(pool: Sql, accountId: AccountId): Promise<void> {
  await byIndex(pool, async (sql) => {
    await sql`DELETE FROM accounts WHERE id = ${accountId}`;
  });
}
