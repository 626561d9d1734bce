import pg from 'pg';

/** The connection is gone, or is refused to this statement. Whether a statement that was sent has changed something is unknown. */
export function lostConnection(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'CONNECTION_CLOSED' });
}

/** No connection could be opened; `code` is what PostgreSQL, TLS or the network said. The next attempt may succeed. */
export class NotConnected extends Error {
  readonly code: string | null;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = databaseErrorCode(cause);
  }
}

/** The database did not respond in time, or is known not to respond. */
export function tooLate(message: string): Error {
  return Object.assign(new Error(message), { code: 'CONNECT_TIMEOUT' });
}

/** The server is not one that the address means by `target_session_attrs`. */
export function readOnlyServer(): Error {
  return Object.assign(new Error('the server of the database is read-only'), { code: '25006' });
}

/** The pool is being closed by this process. */
export function endedPool(): Error {
  return Object.assign(new Error('The pool of database connections is closed.'), { code: 'CONNECTION_ENDED' });
}

/** The SQLSTATE of an error from PostgreSQL, or the code of a failed connection; `null` for any other error. */
export function databaseErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code;
}

/** The violated constraint, if the error names one. */
export function violatedConstraint(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.constraint ?? null) : null;
}

const lostRace = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);

/** Whether PostgreSQL rolled the transaction back in favour of another. */
export function isLostRace(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== null && lostRace.has(code);
}

/** Where PostgreSQL notices that a prepared statement is gone, or that a migration has changed the types of its columns. */
const staleRoutines = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery', 'transformAssignedExpr']);

/** Whether a prepared statement has to be prepared again. */
export function isStale(error: unknown): boolean {
  return error instanceof pg.DatabaseError && staleRoutines.has(error.routine ?? '');
}
