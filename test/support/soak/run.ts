import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startEmbeddedCluster } from '../database/embedded-cluster.ts';
import { startProcesses, type Cluster } from '../processes/cluster.ts';
import { until } from '../server.ts';
import { makeWebhook } from '../receivers/webhooks.ts';
import { makeAccount, makeOperator, type ServerHandle } from '../world.ts';
import { doChores } from './chores.ts';
import { converse, messageText } from './conversation.ts';
import { Desk } from './desk.ts';
import { measureGrowth } from './bounds.ts';
import { boundedSeries, bytesPerRow } from './measures.ts';
import { PlantedDays } from './planted-days.ts';
import { PlantedFiles } from './planted-files.ts';
import { PlantedRows } from './planted-rows.ts';
import { SoakReceiver } from './receivers.ts';
import { describeRun, type RunResult } from './report.ts';
import { Sampler, type Sample } from './samples.ts';
import { Traffic } from './traffic.ts';

export interface SoakOptions {
  readonly hours: number;
  readonly sampleEverySec: number;
  readonly conversationsPerSec: number;
  /** How often rows are planted for the sweeps. */
  readonly plantEverySec: number;
  /** The rarest chore is done as often as this. */
  readonly longestChoreSec: number;
  /** Sweeps run at a start and every ten minutes: a short run starts another process instead of waiting. */
  readonly startsForSweeps: boolean;
  /** The folder of the report and of the samples. */
  readonly folder: string;
}

const desks = 3;
const plantedRows = 20;
/** Sweeps run every ten minutes, and take a moment. */
const sweptAfterMs = 12 * 60_000;

const events = [
  'engagement.start',
  'engagement.end',
  'engagement.transfer',
  'engagement.chat.message',
  'engagement.chat.message.status',
  'engagement.request.failure',
  'engagement.files.security_scan_result',
];
/** These are made only for subscribers. */
const onDemand = ['ticket.created', 'ticket.offered', 'ticket.ended', 'operator.presence', 'queue.status'];

/** Two processes on a PostgreSQL with its usual settings, which flushes and vacuums. */
async function startSoakCluster(): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-soak-'));
  const postgres = await startEmbeddedCluster(dataDir);
  const database = openDatabase(postgres.address, 4);
  await migrate(database, ensureSigningKey);
  return startProcesses(database, {
    count: 2,
    environment: { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', USHER_LOG_LEVEL: 'warn', USHER_SCANNER: 'manual' },
    async cleanUp() {
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
}

/** What the run needs besides its options. */
interface Soak {
  readonly options: SoakOptions;
  readonly cluster: Cluster;
  readonly traffic: Traffic;
  readonly receivers: Receivers;
  readonly rows: PlantedRows;
  readonly days: PlantedDays;
  readonly files: PlantedFiles;
}

interface Receivers {
  /** Accepts everything at once. */
  readonly steady: SoakReceiver;
  /** Fails now and then. */
  readonly poor: SoakReceiver;
  /** Is not reachable now and then. */
  readonly away: SoakReceiver;
}

export async function soak(options: SoakOptions): Promise<RunResult> {
  await using cluster = await startSoakCluster();
  const traffic = new Traffic(options.hours * 3_600_000);
  const calm = { refuse: 0, busy: 0, slow: 0, hang: 0 };
  const receivers = {
    steady: await SoakReceiver.start(calm, (at) => traffic.record('webhook', Date.now() - at)),
    poor: await SoakReceiver.start({ refuse: 0.04, busy: 0.01, slow: 0.02, hang: 0.002 }),
    away: await SoakReceiver.start(calm),
  };
  try {
    const rows = await openPlanted(cluster, options.hours);
    const days = new PlantedDays(cluster.database.sql);
    const files = new PlantedFiles(cluster.dataDir);
    await rows.plant({ young: plantedRows });
    files.plant({ young: plantedRows });
    await days.begin();
    const run = { options, cluster, traffic, receivers, rows, days, files };
    const samples = await load(run);
    const result = await examine(run, samples);
    writeFileSync(join(options.folder, 'report.md'), `${describeRun(result)}\n`);
    return result;
  } finally {
    for (const receiver of Object.values(receivers)) receiver.close();
  }
}

/** Loads the service for the length of the run, and samples it meanwhile. */
async function load({ options, cluster, traffic, receivers, rows, days, files }: Soak): Promise<Sample[]> {
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error('there are two processes');
  let turn = 0;
  const node = (): ServerHandle => cluster.reach((turn += 1) % 2 === 0 ? first : second);
  const open: Desk[] = [];
  const stop = new AbortController();
  const { signal } = stop;
  const samples: Sample[] = [];
  const sampler = new Sampler(cluster.database.sql, [first, second], cluster.dataDir);
  const log = (what: object): void =>
    appendFileSync(join(options.folder, 'samples.jsonl'), `${JSON.stringify(what)}\n`);
  try {
    const work: Promise<unknown>[] = [];
    while (open.length < desks) {
      const desk = await Desk.open(traffic, node);
      open.push(desk);
      const webhookId = await registerWebhooks(desk, receivers);
      work.push(doChores(desk, { webhookId, longestEverySec: options.longestChoreSec, signal }));
    }
    traffic.begin();
    const ended = pause(options.hours * 3_600_000, undefined, { signal }).then(() => stop.abort());
    await Promise.all([
      ended,
      ...work,
      keepConversing(open, options.conversationsPerSec, signal),
      every(options.longestChoreSec * 1_000, traffic, signal, async () => {
        receivers.away.close();
        await pause(Math.min(15_000, options.longestChoreSec * 200));
        await receivers.away.open();
        traffic.count('outage of a receiver');
      }),
      every(options.sampleEverySec * 1_000, traffic, signal, async () => {
        const sample = await sampler.take();
        samples.push(sample);
        log(plainSample(sample, traffic));
      }),
      every(options.plantEverySec * 1_000, traffic, signal, async () => {
        await rows.plant({ old: plantedRows });
        files.plant({ old: plantedRows });
        await days.plant();
        if (options.startsForSweeps) await sweepByStart(cluster, async () => isSwept({ rows, days, files }));
        log({ sweeps: await rows.ledger(sweptAfterMs), days: await days.ledger(), files: files.ledger(sweptAfterMs) });
      }),
    ]);
  } finally {
    stop.abort();
    await Promise.all(open.map(async (desk) => desk.close()));
  }
  return samples;
}

async function registerWebhooks({ node, account }: Desk, { steady, poor, away }: Receivers): Promise<string> {
  await makeWebhook(node(), account, { url: steady.url, events: [...events, ...onDemand] });
  await makeWebhook(node(), account, { url: away.url, events: ['engagement.start', 'engagement.end'] });
  const { id } = await makeWebhook(node(), account, { url: poor.url, events });
  return id;
}

function plainSample(sample: Sample, { counts, unexpected }: Traffic): object {
  return {
    ...sample,
    tables: Object.fromEntries(sample.tables),
    processes: sample.processes.map((each) => ({ ...each, work: Object.fromEntries(each.work) })),
    counts: Object.fromEntries(counts),
    unexpected,
  };
}

/** Looks at what is left after the load. */
async function examine(run: Soak, samples: readonly Sample[]): Promise<RunResult> {
  const { options, cluster, traffic, rows, days, files, receivers } = run;
  const { sql } = cluster.database;
  const sweptAfter = options.startsForSweeps ? 0 : sweptAfterMs;
  const steadyUrl = receivers.steady.url;
  const waiting = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.url = ${steadyUrl}`;
    return row?.count ?? 0;
  };
  await until(async () => (await waiting()) === 0);
  const [outcomes] = await sql<{ delivered: number; others: number }[]>`
    SELECT count(DISTINCT event_id) FILTER (WHERE l.state = 'delivered')::integer AS delivered,
           count(*) FILTER (WHERE l.state <> 'delivered')::integer AS others
      FROM delivery_log l JOIN webhooks w ON w.id = l.webhook_id WHERE w.url = ${steadyUrl} AND final`;
  const [stored] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM files f WHERE stored AND EXISTS (SELECT FROM engagements e WHERE e.id = f.engagement_id)`;
  const [history] = await sql<{ engagements: number; messages: number }[]>`
    SELECT (SELECT count(*) FROM engagements)::integer AS engagements,
           (SELECT count(*) FROM chat_messages WHERE content = ${messageText})::integer AS messages`;
  const [orphans] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM visitors v
     WHERE NOT EXISTS (SELECT FROM sites s WHERE s.id = v.site_id)
       AND NOT EXISTS (SELECT FROM deleted_sites d WHERE d.id = v.site_id)`;
  return {
    hours: options.hours,
    samples,
    growths: [
      ...boundedSeries(samples, !options.startsForSweeps).map(measureGrowth),
      ...bytesPerRow(samples).filter(({ rows: count }) => count > 0),
    ],
    sweeps: await rows.ledger(sweptAfter),
    days: await days.ledger(),
    files: files.ledger(sweptAfter),
    overdue: await rows.overdue(sweptAfter),
    sweepRuns: countRuns(samples),
    late: lateWork(samples),
    events: {
      accepted: receivers.steady.accepted.size,
      delivered: outcomes?.delivered ?? 0,
      others: outcomes?.others ?? 0,
    },
    storedFiles: { rows: stored?.count ?? 0, onDisk: files.countOnDisk() },
    history: {
      engagements: { acknowledged: traffic.counts.get('conversation') ?? 0, rows: history?.engagements ?? 0 },
      messages: { acknowledged: traffic.counts.get('message') ?? 0, rows: history?.messages ?? 0 },
    },
    orphanedVisitors: orphans?.count ?? 0,
    traffic,
  };
}

async function isSwept({ rows, days, files }: Pick<Soak, 'rows' | 'days' | 'files'>): Promise<boolean> {
  const ledgers = [...(await rows.ledger()), ...(await days.ledger()), files.ledger()];
  return ledgers.every(({ oldLeft }) => oldLeft === 0) && (await days.ledger()).every(({ missing }) => missing === 0);
}

async function openPlanted(cluster: Cluster, hours: number): Promise<PlantedRows> {
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error('there is no process');
  const server = cluster.reach(first);
  const account = await makeAccount(server);
  const { id: operator } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { sql } = cluster.database;
  const [row] = await sql<{ id: string }[]>`SELECT account_id AS id FROM operators WHERE id = ${operator}`;
  return new PlantedRows(sql, { account: row?.id ?? '', site: account.siteId, operator }, hours);
}

/** Starts another process, which sweeps at its start, and stops it when it has. */
async function sweepByStart(cluster: Cluster, isDone: () => Promise<boolean>): Promise<void> {
  const third = await cluster.start();
  cluster.nodes.splice(cluster.nodes.indexOf(third), 1);
  try {
    await until(isDone);
  } finally {
    await third.stop();
  }
}

/** A failure is reported at the end: it does not end a run of hours. */
async function every(ms: number, traffic: Traffic, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    await run().catch((error: unknown) => traffic.reportUnexpected(String(error)));
    await pause(Math.max(0, ms - (performance.now() - began)), undefined, { signal }).catch(() => undefined);
  }
}

/** Starts conversations at random times with this mean rate. Returns when the last one has ended. */
async function keepConversing(open: readonly Desk[], perSec: number, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let number = 0; !signal.aborted; number += 1) {
    const desk = open[Math.floor(Math.random() * open.length)];
    if (desk !== undefined) {
      const conversation: Promise<void> = converse(desk, number)
        .catch((error: unknown) => desk.traffic.reportUnexpected(`conversation: ${String(error)}`))
        .finally(() => running.delete(conversation));
      running.add(conversation);
    }
    await pause((-Math.log(1 - Math.random()) * 1_000) / perSec, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(running);
}

/** How often each periodic task was seen to succeed, in both processes. The metrics also show the start as a success. */
function countRuns(samples: readonly Sample[]): Map<string, number> {
  const seen = new Map<string, Set<string>>();
  for (const { processes } of samples)
    processes.forEach(({ work }, index) => {
      for (const [name, { succeededAt }] of work) {
        const times = seen.get(name) ?? new Set();
        seen.set(name, times.add(`${index} ${succeededAt}`));
      }
    });
  return new Map([...seen].map(([name, times]) => [name, times.size]));
}

/** A task may wait for the one before it, which may take a minute. */
const lateAfterSec = 120;

/** Periodic tasks that were seen to be late. */
function lateWork(samples: readonly Sample[]): string[] {
  return samples.flatMap(({ atSec, processes }) =>
    processes.flatMap(({ work }) =>
      [...work]
        .filter(([, { ageSec, intervalSec }]) => ageSec > intervalSec + lateAfterSec)
        .map(([name, { ageSec }]) => `${name} after ${atSec} s: ${Math.round(ageSec)} s`),
    ),
  );
}
