import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { targetsOf, type DatabaseAddress, type Target } from './address.ts';
import { databaseErrorCode, lostConnection, NotConnected, readOnlyServer, tooLate } from './errors.ts';

export interface OpenOptions {
  readonly address: DatabaseAddress;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  /** Settings of the session, by PostgreSQL's names. */
  readonly settings: Readonly<Record<string, string | number>>;
}

/** A connection that is closed without a reason while it opens is opened again this many times. */
const maxAttempts = 3;
/** The time limit is counted in steps, so that a time in which the thread was busy counts as one step at most. */
const timeoutSteps = 10;
const keepAliveMs = 60_000;
/** How long a host may be silent before the next one is tried as well. */
const hostPatienceMs = 500;

/**
 * Opens a connection, and makes its settings by a statement, because poolers refuse start-up parameters that they do not know. Whatever goes
 * wrong, the client is destroyed and the promise rejects.
 */
export async function openClient(options: OpenOptions, signal: AbortSignal): Promise<pg.Client> {
  const hosts = targets(options.address);
  const [only] = hosts;
  try {
    if (only !== undefined && hosts.length === 1) return await openTarget(only, options, signal);
    return await openFirst(hosts, options, signal);
  } catch (error) {
    throw signal.aborted ? error : new NotConnected(error);
  }
}

/**
 * Opens a connection to the first host that accepts it. A host that is silent, such as a primary that is frozen, delays the next one by
 * `hostPatienceMs` and is opened beside it. While a host is silent, those that refused are tried again: a standby among them may be promoted.
 * Rejects when all have refused, or after the time limit for one connection.
 */
async function openFirst(hosts: readonly Target[], options: OpenOptions, signal: AbortSignal): Promise<pg.Client> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const opening = new Map<Target, Promise<pg.Client | null>>();
  let lastError: unknown = tooLate(`no host of the database has answered within ${options.connectTimeoutMs} ms`);
  const open = async (host: Target): Promise<pg.Client | null> => {
    try {
      return await openTarget(host, options, ended);
    } catch (error) {
      opening.delete(host);
      if (!ended.aborted) lastError = error;
      return null;
    }
  };
  const stopTimer = startTimer(options.connectTimeoutMs, () => over.abort());
  try {
    do {
      for (const host of hosts) {
        if (!opening.has(host)) opening.set(host, open(host));
        const client = await Promise.race([...opening.values(), sleep(hostPatienceMs, null)]);
        if (client !== null) return destroyOthers(client, opening.values());
      }
    } while (opening.size > 0 && !ended.aborted);
    throw lastError;
  } finally {
    stopTimer();
    over.abort();
  }
}

/** Others may have been opened at the same moment. */
function destroyOthers(client: pg.Client, opening: Iterable<Promise<pg.Client | null>>): pg.Client {
  for (const other of opening)
    void other.then((opened) => {
      if (opened !== client) opened?.connection.stream.destroy();
    });
  return client;
}

/** Reading the address may fail: it may name files. */
function targets(address: DatabaseAddress): Target[] {
  try {
    return targetsOf(address);
  } catch (error) {
    throw new NotConnected(error);
  }
}

async function openTarget(target: Target, options: OpenOptions, signal: AbortSignal): Promise<pg.Client> {
  let tls = target.client.ssl ?? false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOpen({ ...target, client: { ...target.client, ssl: tls } }, options, signal);
    } catch (error) {
      if (target.isTlsOptional && tls !== false && isWithoutTls(error)) tls = false;
      else if (attempt === maxAttempts || signal.aborted || databaseErrorCode(error) !== closedEarly) throw error;
    }
  }
}

const closedEarly = 'CONNECTION_CLOSED';

function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections';
}

async function tryOpen(target: Target, options: OpenOptions, signal: AbortSignal): Promise<pg.Client> {
  if (signal.aborted) throw givenUp();
  const client = new pg.Client({
    application_name: options.applicationName,
    ...target.client,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  const given = Promise.withResolvers<never>();
  given.promise.catch(() => undefined);
  const giveUp = (error: Error): void => {
    given.reject(error);
    client.connection.stream.destroy();
  };
  const onAbort = (): void => giveUp(givenUp());
  const onError = (error: Error): void => giveUp(error);
  const onEnd = (): void => giveUp(lostConnection('the database closed the connection while it was opened'));
  const stopTimer = startTimer(options.connectTimeoutMs, () =>
    giveUp(tooLate(`no connection to the database within ${options.connectTimeoutMs} ms`)),
  );
  client.on('error', onError).on('end', onEnd);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const ready = client
      .connect()
      .then(async () => client.query<ServerState>(settingStatement({ ...options.settings, ...target.settings })));
    const { rows } = await Promise.race([ready, given.promise]);
    if (!isMeant(target, rows[0])) throw readOnlyServer();
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw nameLoss(error);
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onAbort);
    client.off('error', onError).off('end', onEnd);
    // The client may still report the loss of its socket.
    client.on('error', () => undefined);
  }
}

function givenUp(): Error {
  return lostConnection('the connection to the database was given up');
}

/** `pg` has no code for a connection that the server closed. */
function nameLoss(error: unknown): unknown {
  if (databaseErrorCode(error) !== null || !(error instanceof Error)) return error;
  return /^(?:Connection terminated|Client (?:has|was))/.test(error.message) ? lostConnection(error.message) : error;
}

/** Calls `onTimeout` after the time, but not before the loop has read what arrived in the meantime. */
function startTimer(ms: number, onTimeout: () => void): () => void {
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps === timeoutSteps) onTimeout();
  }, ms / timeoutSteps);
  return () => clearInterval(timer);
}

interface ServerState {
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
}

function isMeant({ session }: Target, state: ServerState | undefined): boolean {
  if (session === 'primary') return state?.is_standby === false;
  return session === 'any' || state?.is_read_only === false;
}

function settingStatement(settings: OpenOptions['settings']): string {
  const each = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(String(value))}, false)`,
  );
  const state = `pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only`;
  return `SELECT ${[state, ...each].join(', ')}`;
}
