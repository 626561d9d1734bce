import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, databaseErrorCode, sessionSettings, type DatabaseAddress, type PoolSql } from './database.ts';
import { StartError } from '../errors.ts';
import { startPools } from './pools.ts';

/** Statements that two connections send alternately. A pooler that shares backends soon gives both the same backend. */
const rounds = 5;
/** PostgreSQL delivers a notification within milliseconds. */
const notificationMs = 2_000;

const needs =
  'Usher needs one session per connection, because it uses LISTEN, prepared statements and session settings. ' +
  'Configure your connection pooler for session pooling (PgBouncer: pool_mode = session) with at least ' +
  'USHER_DATABASE_POOL connections per process, or point DATABASE_URL directly to PostgreSQL.';

/**
 * Refuses a pooler that assigns a backend per statement or transaction. Usher would seem to work behind it, but would miss
 * the changes of other processes.
 */
export async function refuseSharedSessions(address: DatabaseAddress): Promise<void> {
  const channel = `usher_session_${randomUUID()}`;
  const notified = new Set<string>();
  const onNotification = (from: string): void => void notified.add(from);
  const options = startPools.sessionCheck;
  const [listener, other] = [connect(address, { ...options, onNotification }), connect(address, options)];
  try {
    await listener`LISTEN ${listener(channel)}`;
    await refuseSharedBackends(listener, other);
    await refuseLostSettings(listener);
    await refuseReadOnly(listener);
    await other`SELECT pg_notify(${channel}, '')`;
    for (const deadline = Date.now() + notificationMs; !notified.has(channel) && Date.now() < deadline; await sleep(10))
      await listener`SELECT`;
    if (!notified.has(channel)) throw refusal('a notification did not arrive');
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw refusal(`a statement failed (${databaseErrorCode(error) ?? String(error)})`, error);
  } finally {
    await Promise.all([listener, other].map(async (sql) => sql.end({ timeout: 1 })));
  }
}

async function refuseSharedBackends(one: PoolSql, other: PoolSql): Promise<void> {
  const seen = new Map<PoolSql, number>();
  for (let round = 0; round < rounds; round += 1) {
    for (const sql of [one, other]) {
      // The statement is prepared, which fails later on another backend.
      const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid WHERE ${round}::integer >= 0`;
      const pid = row?.pid ?? 0;
      if (round === 0 ? [...seen.values()].includes(pid) : seen.get(sql) !== pid)
        throw refusal('two connections shared a backend, or one connection changed its backend');
      seen.set(sql, pid);
    }
  }
}

async function refuseLostSettings(sql: PoolSql): Promise<void> {
  for (const [name, expected] of Object.entries(sessionSettings)) {
    const [row] = await sql<{ same: boolean }[]>`
      SELECT setting = ${String(expected)} AS same FROM pg_settings WHERE lower(name) = ${name.toLowerCase()}`;
    if (row?.same !== true) throw refusal(`the setting ${name} was lost`);
  }
}

/** Whether the database refuses changes of this session: it is a standby, or somebody has made it read-only. */
export async function refusesWrites(sql: PoolSql): Promise<boolean> {
  const [row] = await sql<{ answer: string }[]>`SELECT current_setting('transaction_read_only') AS answer`;
  return row?.answer === 'on';
}

async function refuseReadOnly(sql: PoolSql): Promise<void> {
  if (await refusesWrites(sql))
    throw new StartError(
      'The database is read-only: it is a standby, or default_transaction_read_only is on. Point DATABASE_URL to the primary.',
    );
}

function refusal(what: string, cause?: unknown): StartError {
  return new StartError(`The database connection does not keep its session: ${what}. ${needs}`, { cause });
}
