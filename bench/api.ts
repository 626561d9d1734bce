import { execFileSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BareDatabase, BareCreates } from './bare-driver.ts';
import type { BareAnswer } from './bare-fastify.ts';
import { startCounting, statementsOften } from './counting.ts';
import type { Comparison, Entry, Limit, Measure } from './harness.ts';
import type { Lab } from './lab.ts';
import { requestLoad, requestsPerSecond, type Load } from './load.ts';
import { ask, startPeer } from './processes.ts';
import { benchKey, call, firstSite, signIn, type Session, type Usher } from './usher.ts';

/** What the default of USHER_DATABASE_POOL leaves for requests. */
const poolSize = 10;
/** After its first request a process still compiles and collects for a moment. */
const settleMs = { full: 3_000, short: 100 };
/** Creates by which the statements of one are known from others that a server executes meanwhile. */
const createsToCompare = 50;

/** What the HTTP edge costs, and what the process costs before anybody asks it for anything. */
export const api: Entry = {
  name: 'api',
  async prepare(lab) {
    const counting = await startCounting(lab);
    await refuseOtherStatements(lab, counting);
    await counting.usher.stop();

    let usher = await lab.startUsher();
    const session = await signIn(usher);
    const siteId = await firstSite(session);
    const read = await againstBareRoute(lab, session, { name: 'authenticated read', path: `/sites/${siteId}` });
    const create = await authenticatedCreate(lab, { usher, session, siteId });
    const restart = async (): Promise<Usher> => (usher = await usher.restart());
    // In this order: the comparisons hold on to the first server, the limits end it.
    return [read, create, startToReady(restart), idleMemory(restart, settleMs[lab.size])];
  },
};

/** A read against a bare route that answers the same bytes to the same request. */
export async function againstBareRoute(
  { scope, size }: Lab,
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
    ours: async () => requestsPerSecond(session, get, requestLoad[size]),
    peer: async () => requestsPerSecond(bare, get, requestLoad[size]),
    atLeast: 0.6,
  };
}

interface Place {
  readonly usher: Usher;
  readonly session: Session;
  readonly siteId: string;
}

const createTeam = (siteId: string) =>
  ({ method: 'POST', path: '/teams', status: 201, body: JSON.stringify({ site_id: siteId, name: 'Team' }) }) as const;

/** `POST /teams` against its transaction alone, into the same tables. */
async function authenticatedCreate({ scope, size }: Lab, place: Place): Promise<Comparison> {
  const post = createTeam(place.siteId);
  const peer = await startBareDriver(scope, place);
  const load: Load = requestLoad[size];
  return {
    name: 'authenticated create',
    unit: 'requests/s',
    ours: async () => requestsPerSecond(place.session, post, load),
    peer: async () => ask<number>(peer, { ...load } satisfies BareCreates),
    atLeast: 0.5,
  };
}

async function startBareDriver(scope: AsyncDisposableStack, { usher, siteId }: Place): Promise<ChildProcess> {
  const peer = startPeer(scope, new URL('./bare-driver.ts', import.meta.url));
  const where: BareDatabase = { url: usher.databaseUrl, poolSize, siteId, keyId: benchKey.id, name: 'Team' };
  await ask(peer, { ...where });
  return peer;
}

/** A comparison with a peer that asks the database for something else would say nothing: it is refused. */
async function refuseOtherStatements({ scope }: Lab, place: Place): Promise<void> {
  const post = createTeam(place.siteId);
  const peer = await startBareDriver(scope, place);
  const url = place.usher.databaseUrl;
  const usher = await statementsOften(url, createsToCompare, async () => {
    for (let n = 0; n < createsToCompare; n += 1) await call(place.session, post);
  });
  const load: BareCreates = { connections: 1, amount: createsToCompare };
  const bare = await statementsOften(url, createsToCompare, async () => ask<number>(peer, { ...load }));
  const ids = (statements: ReadonlyMap<string, string>): string => [...statements.keys()].join(' ');
  if (usher.size === 0 || ids(usher) !== ids(bare)) {
    const lists = [usher, bare].map((statements) => [...statements.values()].join(';\n'));
    throw new Error(
      `POST /teams executes\n${lists[0]}\nand bench/bare-driver.ts executes\n${lists[1]}\nMake the peer do what the route does.`,
    );
  }
}

/** The database is there already, as it is at every start but the first. Processor time is that of the Node process alone. */
function startToReady(restart: () => Promise<Usher>): Measure {
  return {
    unit: 's',
    limits: [
      { name: 'second start to ready', atMost: 0.7 },
      { name: 'processor time of a start', atMost: 0.7 },
    ],
    async measure() {
      const { pid, readySeconds } = await restart();
      return [readySeconds, processorSeconds(pid)];
    },
  };
}

function idleMemory(restart: () => Promise<Usher>, pauseMs: number): Limit {
  return {
    name: 'idle memory',
    unit: 'MB',
    async measure() {
      const usher = await restart();
      await firstSite(await signIn(usher));
      await sleep(pauseMs);
      return residentMegabytes(usher.pid);
    },
    atMost: 110,
  };
}

/** What Linux counts processor time in. */
const ticksPerSecond = 100;

function processorSeconds(pid: number): number {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return secondsOf(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }));
  // The second field is the name of the program in parentheses; of what follows, 12 and 13 are the user's and the system's time.
  const fields = readFileSync(stat, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** `1:02.50` */
function secondsOf(time: string): number {
  return time
    .trim()
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0);
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
