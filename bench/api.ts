import { execFileSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BareDatabase, CreateLoad } from './bare-driver.ts';
import type { BareResponse } from './bare-fastify.ts';
import { startCountingUsher, frequentStatements } from './measuring/counting.ts';
import type { Comparison, Entry, Limit, Measure } from './measuring/harness.ts';
import type { Lab } from './measuring/lab.ts';
import { requestLoad, requestsPerSecond, type Load } from './measuring/load.ts';
import { processorSeconds } from './measuring/processor-time.ts';
import { ask, startPeer } from './measuring/processes.ts';
import { benchKey, call, firstSite, signIn, type Session, type Usher } from './measuring/usher.ts';

/** The connections that the default of USHER_DATABASE_POOL leaves for requests. */
const poolSize = 10;
/** How long a process gets after its first request to compile code and collect garbage. */
const settleMs = { full: 3_000, short: 100 };
/** A statement executed this often belongs to the creates; the server's background statements are executed less often. */
const createsToCompare = 50;

/** The cost of the HTTP edge, and the start-up time and memory of an idle process. */
export const api: Entry = {
  name: 'api',
  async prepare(lab) {
    const counting = await startCountingUsher(lab);
    await assertSameStatements(lab, counting);
    await counting.usher.stop();

    let usher = await lab.startUsher();
    const session = await signIn(usher);
    const siteId = await firstSite(session);
    const read = await compareWithBareRoute(lab, session, {
      name: 'authenticated read',
      path: `/sites/${siteId}`,
      atLeast: 0.55,
    });
    const create = await authenticatedCreate(lab, { usher, session, siteId });
    const restart = async (): Promise<Usher> => (usher = await usher.restart());
    // The comparisons come first: they use the first server, which the limits restart.
    return [read, create, startToReady(restart), idleMemory(restart, settleMs[lab.size])];
  },
};

/** Compares a read with a bare Fastify route that sends the same bytes. */
export async function compareWithBareRoute(
  { scope, size }: Lab,
  session: Session,
  { name, path, atLeast }: { readonly name: string; readonly path: string; readonly atLeast: number },
): Promise<Comparison> {
  const get = { method: 'GET', path, status: 200 } as const;
  const ours: BareResponse = await call(session, get);
  const peer = startPeer(scope, new URL('./bare-fastify.ts', import.meta.url));
  const bare: Session = { url: await ask<string>(peer, { ...ours }), headers: session.headers };
  const theirs: BareResponse = await call(bare, get);
  if (theirs.body !== ours.body || theirs.contentType !== ours.contentType) {
    throw new Error(
      `the bare route sends ${theirs.contentType} ${theirs.body} instead of ${ours.contentType} ${ours.body}`,
    );
  }
  return {
    name,
    unit: 'requests/s',
    ours: async () => requestsPerSecond(session, get, requestLoad[size]),
    peer: async () => requestsPerSecond(bare, get, requestLoad[size]),
    atLeast,
  };
}

interface SignedInUsher {
  readonly usher: Usher;
  readonly session: Session;
  readonly siteId: string;
}

const createTeam = (siteId: string) =>
  ({ method: 'POST', path: '/teams', status: 201, body: JSON.stringify({ site_id: siteId, name: 'Team' }) }) as const;

/** Compares `POST /teams` with its transaction alone, on the same tables. */
async function authenticatedCreate({ scope, size }: Lab, target: SignedInUsher): Promise<Comparison> {
  const post = createTeam(target.siteId);
  const peer = await startBareDriver(scope, target);
  const load: Load = requestLoad[size];
  return {
    name: 'authenticated create',
    unit: 'requests/s',
    ours: async () => requestsPerSecond(target.session, post, load),
    peer: async () => ask<number>(peer, { ...load } satisfies CreateLoad),
    atLeast: 0.7,
  };
}

async function startBareDriver(scope: AsyncDisposableStack, { usher, siteId }: SignedInUsher): Promise<ChildProcess> {
  const peer = startPeer(scope, new URL('./bare-driver.ts', import.meta.url));
  const where: BareDatabase = { url: usher.databaseUrl, poolSize, siteId, keyId: benchKey.id, name: 'Team' };
  await ask(peer, { ...where });
  return peer;
}

/** Fails unless the peer executes the same statements as the route: otherwise the comparison would mean nothing. */
async function assertSameStatements({ scope }: Lab, target: SignedInUsher): Promise<void> {
  const post = createTeam(target.siteId);
  const peer = await startBareDriver(scope, target);
  const url = target.usher.databaseUrl;
  const usher = await frequentStatements(url, createsToCompare, async () => {
    for (let n = 0; n < createsToCompare; n += 1) await call(target.session, post);
  });
  const load: CreateLoad = { connections: 1, amount: createsToCompare };
  const bare = await frequentStatements(url, createsToCompare, async () => ask<number>(peer, { ...load }));
  const ids = (statements: ReadonlyMap<string, string>): string => [...statements.keys()].join(' ');
  if (usher.size === 0 || ids(usher) !== ids(bare)) {
    const lists = [usher, bare].map((statements) => [...statements.values()].join(';\n'));
    throw new Error(
      `POST /teams executes\n${lists[0]}\nand bench/bare-driver.ts executes\n${lists[1]}\nChange the peer so that it executes what the route executes.`,
    );
  }
}

/** The database exists already, as at every start but the first. Processor time is that of the Node process alone. */
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

/** The memory of the Node process alone; PostgreSQL's memory follows from its own settings. */
export function residentMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const bytes = Number(kibibytes) * 1024;
  if (!(bytes > 0)) throw new Error(`cannot read the memory use of process ${pid}`);
  return bytes / 1e6;
}
