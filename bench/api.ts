import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningEmbeddedPostgres } from '../packages/server/src/platform/embedded-postgres.ts';
import type { BareDatabase, BareInserts, BareStatements } from './bare-driver.ts';
import type { BareAnswer } from './bare-fastify.ts';
import type { Comparison, Entry, Limit } from './harness.ts';
import { concurrency, requestsPerSecond, roundSeconds } from './load.ts';
import { ask, startPeer, temporaryFolder } from './processes.ts';
import { call, signIn, startUsher, type Session, type Usher } from './usher.ts';

/** What the default of USHER_DATABASE_POOL gives the server. */
const poolSize = 10;
/** After its first request a process still compiles and collects for a moment. */
const settleMs = 3_000;

/** What the HTTP edge costs, and what the process costs before anybody asks it for anything. */
export const api: Entry = {
  name: 'api',
  async prepare(scope) {
    const folder = temporaryFolder(scope);
    let usher = await startUsher(scope, folder);
    const session = await signIn(usher);
    const siteId = await firstSite(session);
    const read = await authenticatedRead(scope, session, siteId);
    const create = await authenticatedCreate(scope, session, { ...socketOf(usher), siteId });
    const restart = async (): Promise<Usher> => {
      await usher.stop();
      return (usher = await startUsher(scope, folder));
    };
    // In this order: the comparisons hold on to the first server, the limits end it.
    return [read, create, startToReady(restart), idleMemory(restart)];
  },
};

export async function firstSite(session: Session): Promise<string> {
  const { body } = await call(session, { method: 'GET', path: '/sites', status: 200 });
  const [site] = (JSON.parse(body) as { sites: { id: string }[] }).sites;
  if (site === undefined) throw new Error('the first start made no site');
  return site.id;
}

/** `GET /sites/{id}` against a bare route that answers the same bytes to the same request. */
async function authenticatedRead(scope: AsyncDisposableStack, session: Session, siteId: string): Promise<Comparison> {
  return againstBareRoute(scope, session, { name: 'authenticated read', path: `/sites/${siteId}` });
}

/** A read against a bare route that answers the same bytes to the same request. */
export async function againstBareRoute(
  scope: AsyncDisposableStack,
  session: Session,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<Comparison> {
  const get = { method: 'GET', path, status: 200 } as const;
  const ours: BareAnswer = await call(session, get);
  const peer = startPeer(scope, new URL('./bare-fastify.ts', import.meta.url));
  const bare: Session = { url: await ask<string>(peer, { ...ours }), headers: session.headers };
  const theirs: BareAnswer = await call(bare, get);
  if (theirs.body !== ours.body || theirs.contentType !== ours.contentType) {
    throw new Error(
      `the bare route answers ${theirs.contentType} ${theirs.body} and not ${ours.contentType} ${ours.body}`,
    );
  }
  return {
    name,
    unit: 'requests/s',
    ours: async () => requestsPerSecond(session, get),
    peer: async () => requestsPerSecond(bare, get),
    atLeast: 0.6,
  };
}

/** `POST /teams` against its INSERT alone, into the same table. */
async function authenticatedCreate(
  scope: AsyncDisposableStack,
  session: Session,
  database: Omit<BareDatabase, 'poolSize' | 'name'>,
): Promise<Comparison> {
  const name = 'Team';
  const body = JSON.stringify({ site_id: database.siteId, name });
  const post = { method: 'POST', path: '/teams', status: 201, body } as const;
  await call(session, post);
  const peer = startPeer(scope, new URL('./bare-driver.ts', import.meta.url));
  const { usher, bare } = await ask<BareStatements>(peer, { ...database, poolSize, name });
  if (plain(usher) !== plain(bare)) {
    throw new Error(`the bare driver sends "${plain(bare)}" and not "${plain(usher)}"`);
  }
  const inserts: BareInserts = { concurrency, seconds: roundSeconds };
  return {
    name: 'authenticated create',
    unit: 'requests/s',
    ours: async () => requestsPerSecond(session, post),
    peer: async () => ask<number>(peer, { ...inserts }),
    atLeast: 0.5,
  };
}

export function socketOf({ dataDir }: Usher): Pick<BareDatabase, 'socketDirectory' | 'user' | 'database'> {
  const address = runningEmbeddedPostgres(dataDir);
  if (address?.kind !== 'socket') throw new Error('the embedded database is not running');
  return { socketDirectory: address.directory, user: address.user, database: address.database };
}

/** A statement without what means nothing: the driver quotes names, the source is laid out over lines. */
function plain(statement: string): string {
  return statement.replaceAll('"', '').replaceAll(/\s+/g, ' ').replaceAll(', ', ',').trim();
}

/** The database is there already, as it is at every start but the first. */
function startToReady(restart: () => Promise<Usher>): Limit {
  return {
    name: 'second start to ready',
    unit: 's',
    measure: async () => (await restart()).readySeconds,
    atMost: 2,
  };
}

function idleMemory(restart: () => Promise<Usher>): Limit {
  return {
    name: 'idle memory',
    unit: 'MB',
    async measure() {
      const usher = await restart();
      await firstSite(await signIn(usher));
      await sleep(settleMs);
      return residentMegabytes(usher.pid);
    },
    atMost: 150,
  };
}

/** Of the Node process alone; PostgreSQL's memory is its own setting. */
export function residentMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const bytes = Number(kibibytes) * 1024;
  if (!(bytes > 0)) throw new Error(`the system does not say what memory process ${pid} has`);
  return bytes / 1e6;
}
