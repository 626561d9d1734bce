import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql as PoolSql } from 'postgres';
import { connect, databaseErrorCode, sessionSettings, type DatabaseAddress } from './database.ts';
import { StartError } from './errors.ts';
import { startPools } from './pools.ts';

/** Statements that two connections send by turns. A pooler that shares backends gives both of them the same one, mostly at once. */
const rounds = 5;
/** PostgreSQL passes on a notification within milliseconds. */
const notificationMs = 2_000;

const needs =
  'Usher needs connections that keep their session: it listens for notifications, prepares statements and makes settings. ' +
  'If a pooler stands before PostgreSQL, let it keep sessions (PgBouncer: pool_mode = session) with room for ' +
  'USHER_DATABASE_POOL connections of each process; or let DATABASE_URL lead to PostgreSQL itself.';

/**
 * Refuses a database that is reached through a pooler which lends a connection for a statement or a transaction. Usher
 * would seem to work there, and miss what other processes change.
 */
export async function refuseSharedSessions(address: DatabaseAddress): Promise<void> {
  const channel = `usher_session_${randomUUID()}`;
  const heard = new Set<string>();
  const onnotify = (from: string): void => void heard.add(from);
  // `onnotify` is postgres.js's own hook, missing from its types.
  const hooks = { onnotify };
  const options = startPools.sessionCheck;
  const [listener, other] = [connect(address, { ...options, ...hooks }), connect(address, options)];
  try {
    await listener`LISTEN ${listener(channel)}`;
    await refuseSharedBackends(listener, other);
    await refuseLostSettings(listener);
    await refuseReadOnly(listener);
    await other`SELECT pg_notify(${channel}, '')`;
    for (const deadline = Date.now() + notificationMs; !heard.has(channel) && Date.now() < deadline; await sleep(10))
      await listener`SELECT`;
    if (!heard.has(channel)) throw refusal('a notification that was listened for did not arrive');
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
      // With a parameter, so that the statement is prepared, and found again.
      const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid WHERE ${round}::integer >= 0`;
      const pid = row?.pid ?? 0;
      if (round === 0 ? [...seen.values()].includes(pid) : seen.get(sql) !== pid)
        throw refusal('two connections were given the same backend, or one of them several');
      seen.set(sql, pid);
    }
  }
}

async function refuseLostSettings(sql: PoolSql): Promise<void> {
  for (const [name, wanted] of Object.entries(sessionSettings)) {
    const [row] = await sql<{ same: boolean }[]>`
      SELECT setting = ${String(wanted)} AS same FROM pg_settings WHERE lower(name) = ${name.toLowerCase()}`;
    if (row?.same !== true) throw refusal(`the setting ${name} does not last`);
  }
}

async function refuseReadOnly(sql: PoolSql): Promise<void> {
  const [row] = await sql<{ answer: string }[]>`SELECT current_setting('transaction_read_only') AS answer`;
  if (row?.answer === 'on')
    throw new StartError(
      'The database takes no changes: it is a standby, or default_transaction_read_only is on. Let DATABASE_URL lead to the primary.',
    );
}

function refusal(what: string, cause?: unknown): StartError {
  return new StartError(`The database does not keep the session of a connection: ${what}. ${needs}`, { cause });
}
