import type { Sql } from '../platform/database/database.ts';
import { hasCome } from '../platform/clock/due-time.ts';
import type { AccountId } from '../platform/ids.ts';
import type { SampleRow, SampleState, LeasedSample } from './sample-data.ts';

const columns = [
  'account_id', 'site_id', 'operator_ids', 'webhook_id', 'seed', 'state', 'started_at', 'created_at',
] as const; // prettier-ignore

export async function findSample(sql: Sql, accountId: AccountId): Promise<SampleRow | null> {
  const [row] = await sql<SampleRow[]>`SELECT ${sql(columns)} FROM sample_data WHERE account_id = ${accountId}`;
  return row ?? null;
}

type NewSample = Pick<SampleRow, 'account_id' | 'site_id' | 'operator_ids' | 'webhook_id' | 'seed'>;

export async function insertSample(sql: Sql, sample: NewSample): Promise<SampleRow> {
  const [row] = await sql<SampleRow[]>`INSERT INTO sample_data ${sql(sample)} RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('INSERT returned no sample data');
  return row;
}

/** `null`: the account has no sample data. The state `removing` never changes. */
export async function setState(sql: Sql, accountId: AccountId, state: SampleState): Promise<SampleRow | null> {
  const [row] = await sql<SampleRow[]>`
    UPDATE sample_data
       SET state = ${state}, settled = settled AND state = ${state},
           started_at = CASE WHEN ${state} = 'running' THEN now() ELSE started_at END
     WHERE account_id = ${accountId} AND state NOT IN (${state}, 'removing')
    RETURNING ${sql(columns)}`;
  return row ?? findSample(sql, accountId);
}

/** Claims samples of enabled accounts with work to do that no process has a valid lease of. */
export async function claimSamples(sql: Sql, max: number, leaseMs: number): Promise<LeasedSample[]> {
  return sql<LeasedSample[]>`
    UPDATE sample_data
       SET leased_until = now() + make_interval(secs => ${leaseMs / 1000}), epoch = epoch + 1
     WHERE account_id = ANY(ARRAY(SELECT account_id
                                    FROM sample_data
                                   WHERE NOT settled AND account_id NOT IN (SELECT id FROM accounts WHERE disabled_at IS NOT NULL)
                                     AND ${hasCome(sql, sql`leased_until`, leaseMs / 1000)}
                                   ORDER BY leased_until
                                   LIMIT ${max}
                                     FOR UPDATE SKIP LOCKED))
    RETURNING ${sql(columns)}, epoch::float8 AS epoch`;
}

/** Renews the lease and returns the state of the sample; `null`: another process has the lease. */
export async function renewLease(
  sql: Sql,
  { account_id, epoch }: LeasedSample,
  leaseMs: number,
): Promise<SampleState | null> {
  const [row] = await sql<{ state: SampleState }[]>`
    UPDATE sample_data SET leased_until = now() + make_interval(secs => ${leaseMs / 1000})
     WHERE account_id = ${account_id} AND epoch = ${epoch}
    RETURNING state`;
  return row?.state ?? null;
}

/** Ends the lease, so that another process can claim the sample at once. */
export async function releaseSample(sql: Sql, { account_id, epoch }: LeasedSample): Promise<void> {
  await sql`UPDATE sample_data SET leased_until = now() WHERE account_id = ${account_id} AND epoch = ${epoch}`;
}

/** Records that a stopped sample has nothing active any more, unless it was started again meanwhile. */
export async function markSampleEnded(sql: Sql, { account_id, epoch }: LeasedSample): Promise<void> {
  await sql`
    UPDATE sample_data SET settled = true, leased_until = now()
     WHERE account_id = ${account_id} AND epoch = ${epoch} AND state = 'stopped'`;
}
