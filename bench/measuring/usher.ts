import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { allocatorSettings, serverProgram } from '../../scripts/built.mjs';
import { runningEmbeddedPostgres } from '../../packages/server/src/platform/embedded/embedded-postgres.ts';
import { urlOf } from '../../test/support/processes/cluster.ts';
import { printedPort } from '../../test/support/processes/process.ts';
import { end, hasEnded, start } from './processes.ts';

/** A server process, started as a user would start it. */
export interface Usher {
  readonly url: string;
  readonly dataDir: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** From spawning the process to the first 200 of `GET /readyz`. */
  readonly readySeconds: number;
  stop(): Promise<void>;
  /** Stops the server if it runs, and starts a new one on the same data. */
  restart(): Promise<Usher>;
}

/** The API key of the first super_manager. */
export const benchKey: { readonly id: string; readonly secret: string } = {
  id: 'bench',
  secret: 'known-to-all-who-read-this',
};
const readyTimeoutMs = 60_000;
const pollMs = 5;
const callTimeoutMs = 10_000;

/** Starts a server with its data in `folder`. With a `databaseUrl` it uses that database instead of an embedded one. */
export async function startUsher(
  scope: AsyncDisposableStack,
  folder: string,
  databaseUrl: string | null = null,
): Promise<Usher> {
  const dataDir = join(folder, 'data');
  scope.defer(() => endDatabase(dataDir));
  // The log is written to a file: writing it is part of running the service, so it is measured, too.
  const output = join(folder, 'usher.log');
  const log = openSync(output, 'w');
  const began = performance.now();
  const child = start(scope, {
    args: [serverProgram(), 'serve'],
    env: {
      ...allocatorSettings,
      PORT: '0',
      USHER_DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
      USHER_ADMIN_KEY_ID: benchKey.id,
      USHER_ADMIN_KEY_SECRET: benchKey.secret,
      USHER_RATE_LIMIT_PER_TOKEN: '1000000000',
      USHER_RATE_LIMIT_SIGN_IN: '1000000000',
      USHER_LOG_LEVEL: 'info',
      // The receivers of webhooks are on this machine.
      USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const url = await waitUntilReady(child, output);
  const readySeconds = (performance.now() - began) / 1000;
  if (child.pid === undefined) throw new Error('the server has no process id');
  return {
    url,
    dataDir,
    pid: child.pid,
    databaseUrl: databaseUrl ?? embeddedUrl(dataDir),
    readySeconds,
    stop: async () => end(child),
    async restart() {
      await end(child);
      return startUsher(scope, folder, databaseUrl);
    },
  };
}

function embeddedUrl(dataDir: string): string {
  const address = runningEmbeddedPostgres(dataDir);
  if (address === null) throw new Error('the embedded database is not running');
  return urlOf(address);
}

/** Returns the address at which the server listens. */
async function waitUntilReady(child: ChildProcess, output: string): Promise<string> {
  const deadline = performance.now() + readyTimeoutMs;
  for (;;) {
    const text = readFileSync(output, 'utf8');
    const port = printedPort(text);
    const url = `http://127.0.0.1:${port}`;
    if (port !== null && (await isReady(url))) return url;
    if (hasEnded(child) || performance.now() > deadline)
      throw new Error(`Usher did not become ready:\n${text.trim().split('\n').slice(-5).join('\n')}`);
    await sleep(pollMs);
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(callTimeoutMs) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false; // The server does not listen yet.
  }
}

/** Ends the embedded database of a server that was killed; otherwise Usher stops its database itself. */
function endDatabase(dataDir: string): void {
  try {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1);
    process.kill(Number(pid), 'SIGQUIT');
  } catch {
    // There is no lock file or no such process: the database has ended.
  }
}

/** Where to send requests, and with which credentials. */
export interface Session {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The expected status; any other throws. */
  readonly status: number;
  readonly body?: string;
}

export async function call(
  { url, headers }: Session,
  { method, path, status, body }: Call,
): Promise<{ contentType: string; body: string }> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(callTimeoutMs),
  });
  const answer = { contentType: response.headers.get('content-type') ?? '', body: await response.text() };
  if (response.status !== status) throw new Error(`${method} ${path} returned ${response.status}: ${answer.body}`);
  return answer;
}

/** Signs in as the owner of the key; by default the first super_manager. */
export async function signIn({ url }: Pick<Usher, 'url'>, key = benchKey): Promise<Session> {
  const credentials = JSON.stringify({ api_key_id: key.id, api_key_secret: key.secret });
  const path = '/operator_authentication/tokens';
  const { body } = await call({ url, headers: {} }, { method: 'POST', path, status: 200, body: credentials });
  const { token } = JSON.parse(body) as { token: string };
  return { url, headers: { authorization: `Bearer ${token}` } };
}

/** The id of the site that the first start made. */
export async function firstSite(session: Session): Promise<string> {
  const { body } = await call(session, { method: 'GET', path: '/sites', status: 200 });
  const [site] = (JSON.parse(body) as { sites: { id: string }[] }).sites;
  if (site === undefined) throw new Error('the first start made no site');
  return site.id;
}
