import type { Sql } from './database.ts';

export interface OldTransaction {
  /** The session; `null` for a prepared transaction, which has none. */
  readonly pid: number | null;
  readonly database: string;
  readonly user: string;
  /** The session's application, or the id of a prepared transaction. */
  readonly name: string;
  readonly state: string;
  /** `null`: PostgreSQL does not say, because the transaction is of another user and ours may not read all statistics. */
  readonly seconds: number | null;
}

/**
 * The oldest write transaction of the PostgreSQL server, in any of its databases; `null` if there is none. Until it ends, PostgreSQL removes
 * no rows that were deleted since, in none of the databases that are in use, and recoveries of webhooks do not begin.
 */
export async function oldestTransaction(sql: Sql): Promise<OldTransaction | null> {
  const [oldest] = await sql<OldTransaction[]>`
    SELECT *
      FROM (SELECT pid, coalesce(datname, '') AS database, coalesce(usename, '') AS user, coalesce(application_name, '') AS name,
                   coalesce(state, 'unknown') AS state, extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
              FROM pg_stat_activity
             WHERE backend_xid IS NOT NULL
             UNION ALL
            SELECT NULL, database, owner, gid, 'prepared', extract(epoch FROM clock_timestamp() - prepared)::float8
              FROM pg_prepared_xacts) AS transactions
     ORDER BY seconds DESC NULLS LAST
     LIMIT 1`;
  return oldest ?? null;
}
