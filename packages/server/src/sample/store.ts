import type { Sql } from '../platform/database.ts';
import { hasCome } from '../platform/due-time.ts';
import type { AccountId } from '../platform/ids.ts';
import type { SampleRow, SampleState, TakenSample } from './sample-data.ts';

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
  if (row === undefined) throw new Error('the inserted sample data did not come back');
  return row;
}

/** What is being removed stays so; `null` where there is none. A state it has already is no change. */
export async function setState(sql: Sql, accountId: AccountId, state: SampleState): Promise<SampleRow | null> {
  const [row] = await sql<SampleRow[]>`
    UPDATE sample_data
       SET state = ${state}, settled = settled AND state = ${state},
           started_at = CASE WHEN ${state} = 'running' THEN now() ELSE started_at END
     WHERE account_id = ${accountId} AND state NOT IN (${state}, 'removing')
    RETURNING ${sql(columns)}`;
  return row ?? findSample(sql, accountId);
}

/** Takes those about which something is to be done and that nobody has, or has had for too long. */
export async function takeSamples(sql: Sql, room: number, leaseMs: number): Promise<TakenSample[]> {
  return sql<TakenSample[]>`
    UPDATE sample_data
       SET leased_until = now() + make_interval(secs => ${leaseMs / 1000}), epoch = epoch + 1
     WHERE account_id = ANY(ARRAY(SELECT account_id
                                    FROM sample_data
                                   WHERE NOT settled AND ${hasCome(sql, sql`leased_until`, leaseMs / 1000)}
                                   ORDER BY leased_until
                                   LIMIT ${room}
                                     FOR UPDATE SKIP LOCKED))
    RETURNING ${sql(columns)}, epoch::float8 AS epoch`;
}

/** Keeps the lease; answers what the sample is meant to be doing now, `null` where another has it. */
export async function keepSample(
  sql: Sql,
  { account_id, epoch }: TakenSample,
  leaseMs: number,
): Promise<SampleState | null> {
  const [row] = await sql<{ state: SampleState }[]>`
    UPDATE sample_data SET leased_until = now() + make_interval(secs => ${leaseMs / 1000})
     WHERE account_id = ${account_id} AND epoch = ${epoch}
    RETURNING state`;
  return row?.state ?? null;
}

/** Lets another take it up at once. */
export async function returnSample(sql: Sql, { account_id, epoch }: TakenSample): Promise<void> {
  await sql`UPDATE sample_data SET leased_until = now() WHERE account_id = ${account_id} AND epoch = ${epoch}`;
}

/** What was under way has ended. Not if it was started again meanwhile. */
export async function settleSample(sql: Sql, { account_id, epoch }: TakenSample): Promise<void> {
  await sql`
    UPDATE sample_data SET settled = true, leased_until = now()
     WHERE account_id = ${account_id} AND epoch = ${epoch} AND state = 'stopped'`;
}
