import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/support/browser/browser.ts';
import { openConsole } from '../test/support/browser/console.ts';
import { percentile } from './measuring/clock.ts';
import { withDatabase } from './measuring/databases.ts';
import type { Entry } from './measuring/harness.ts';
import type { Lab, Size } from './measuring/lab.ts';
import { RawClient } from './measuring/raw-client.ts';
import { benchKey, firstSite, signIn, type Session, type Usher } from './measuring/usher.ts';

interface BoardLoad {
  readonly queues: number;
  readonly waiting: number;
  /** Visitors who leave and rejoin their queues during the measurement. */
  readonly movers: number;
  readonly seconds: number;
}

const sizes: Readonly<Record<Size, BoardLoad>> = {
  full: { queues: 500, waiting: 5_000, movers: 200, seconds: 20 },
  short: { queues: 5, waiting: 20, movers: 5, seconds: 2.5 },
};
const changesPerSecond = 10;

/** A board with many queues in a real browser: the time until it is usable, and how smooth it stays under changes. */
export const consoleBoard: Entry = {
  name: 'console-board',
  async prepare(lab) {
    const { scope } = lab;
    const size = sizes[lab.size];
    const { usher, siteId, visitors } = await startWithBoard(lab, size);
    const session = await signIn(usher);
    const browser = scope.use(await openBrowser());
    const open = async () => openConsole({ browser, server: usher, key: benchKey, path: '/board' });
    return [
      {
        name: 'from navigation to rows on the page',
        unit: 'ms',
        atMost: 1_500,
        async measure() {
          const { page, context } = await open();
          const took = await page.evaluate<number>(timeToFirstRow);
          await context.close();
          return took;
        },
      },
      {
        unit: 'ms',
        limits: [
          // Two frames at 60 Hz, as browsers round them.
          { name: `frame, p95, at ${changesPerSecond} changes a second`, atMost: 33.5 },
          { name: 'mean frame of the slowest second', atMost: 1_000 / 30 },
          { name: 'longest task', atMost: 200 },
        ],
        async measure() {
          const { page, context } = await open();
          await page.evaluate(timeToFirstRow);
          await page.getByText(`of ${size.queues}`).waitFor();
          const figures = await measureFrames(page, async () =>
            moveVisitors(session, { siteId, visitors, seconds: size.seconds }),
          );
          await context.close();
          return figures;
        },
      },
    ];
  },
};

/** Runs in the page: milliseconds from the start of the navigation to the first row. */
const timeToFirstRow = `new Promise((resolve) => {
  const look = () => document.querySelector('[role=table] [role=row][data-id]') === null
    ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now()));
  look();
})`;

interface Visitor {
  readonly token: string;
  readonly queueId: string;
}

/** Inserts queues and waiting visitors by SQL, as copies of one ticket made by the API; the movers are made by the API. */
async function startWithBoard(
  lab: Lab,
  { queues, waiting, movers }: BoardLoad,
): Promise<{ usher: Usher; siteId: string; visitors: Visitor[] }> {
  const first = await lab.startUsher();
  const siteId = await firstSite(await signIn(first));
  const rows = await withDatabase(first.databaseUrl, async (sql) => {
    await sql`
    INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed,
                        operator_ranking_enabled)
    SELECT gen_random_uuid(), s.account_id, s.id, 'Queue ' || n, '{"type":"fixed","capacity":50}',
           '{"media":["text"]}', 'accept', false
      FROM sites s, generate_series(1, ${queues}::integer) n WHERE s.id = ${siteId}`;
    const made = await sql<{ id: string }[]>`SELECT id FROM queues WHERE site_id = ${siteId} ORDER BY name`;
    await makeVisitors(first, siteId, made.slice(0, 1));
    await sql`
    INSERT INTO visitors (id, account_id, site_id, name, team_ids)
    SELECT gen_random_uuid(), s.account_id, s.id, 'Visitor ' || n, '{}'
      FROM sites s, generate_series(1, ${waiting - movers - 1}::integer) n WHERE s.id = ${siteId}`;
    await sql`
    INSERT INTO queue_tickets
    SELECT (jsonb_populate_record(t, jsonb_build_object(
              'id', gen_random_uuid(), 'visitor_id', v.id, 'seq', 1 + v.n, 'queue_ids', jsonb_build_array(q.id)))).*
      FROM queue_tickets t,
           (SELECT id, row_number() OVER () AS n FROM visitors
             WHERE site_id = ${siteId} AND id NOT IN (SELECT visitor_id FROM queue_tickets)) v,
           (SELECT id, row_number() OVER () AS n FROM queues WHERE site_id = ${siteId}) q
     WHERE q.n = 1 + v.n % ${queues}`;
    await sql`
    INSERT INTO queue_states (queue_id, account_id, visitors, standing, waits)
    SELECT queue_ids[1], account_id, count(*), 'opened', '{}' FROM queue_tickets GROUP BY 1, 2
    ON CONFLICT (queue_id) DO UPDATE SET visitors = excluded.visitors`;
    await sql`UPDATE accounts SET last_seq = ${waiting}, board_version = board_version + 2`;
    await sql`ANALYZE`;
    return made;
  });
  // The restart drops the board in memory, which does not have the inserted rows.
  const usher = await first.restart();
  return { usher, siteId, visitors: await makeVisitors(usher, siteId, rows.slice(0, movers)) };
}

/** Makes one visitor in each of the queues. */
async function makeVisitors(usher: Usher, siteId: string, rows: readonly { id: string }[]): Promise<Visitor[]> {
  const session = await signIn(usher);
  const token = (session.headers['authorization'] ?? '').replace('Bearer ', '');
  const client = new RawClient(usher.url);
  const visitors: Visitor[] = [];
  for (const { id: queueId } of rows) {
    const body = { site_id: siteId, name: `Mover ${visitors.length}` };
    const made = await client.json<{ access_token: string }>(200, 'POST', '/visitors', token, body);
    const visitor = { token: made.access_token, queueId };
    await enqueue(client, siteId, visitor);
    visitors.push(visitor);
  }
  client.close();
  return visitors;
}

async function enqueue(client: RawClient, siteId: string, { token, queueId }: Visitor): Promise<string> {
  const ticketInput = { site_id: siteId, media: 'text', queue_id: queueId };
  const { id } = await client.json<{ id: string }>(201, 'POST', '/queue_tickets', token, ticketInput);
  return id;
}

let moves = 0;

/** At a steady rate, one visitor after the other leaves their queue and rejoins it. */
async function moveVisitors(
  { url }: Session,
  {
    siteId,
    visitors,
    seconds,
  }: { readonly siteId: string; readonly visitors: readonly Visitor[]; readonly seconds: number },
): Promise<void> {
  const client = new RawClient(url);
  const began = performance.now();
  for (let n = 0; n < (changesPerSecond * seconds) / 2; n += 1) {
    const visitor = visitors[moves % visitors.length];
    moves += 1;
    if (visitor === undefined) throw new Error('there are no visitors to move');
    const ticketInput = { site_id: siteId, media: 'text', queue_id: visitor.queueId };
    // Repeating the request returns the open ticket.
    const { id } = await client.json<{ id: string }>(200, 'POST', '/queue_tickets', visitor.token, ticketInput);
    await client.json(200, 'PATCH', `/queue_tickets/${id}`, visitor.token, { action: 'cancel' });
    await sleep(Math.max(0, began + ((n * 2 + 1) * 1_000) / changesPerSecond - performance.now()));
    await enqueue(client, siteId, visitor);
    await sleep(Math.max(0, began + ((n * 2 + 2) * 1_000) / changesPerSecond - performance.now()));
  }
  client.close();
}

/** The 95th percentile of frame times, the mean frame of the slowest second, and the longest task, in milliseconds. */
async function measureFrames(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.evaluate(`
    globalThis.frameTimes = [];
    globalThis.tasks = [0];
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => tasks.push(duration)))
      .observe({ entryTypes: ['longtask'] });
    const note = (at) => { frameTimes.push(at); requestAnimationFrame(note); };
    requestAnimationFrame(note);`);
  await work();
  const times = await page.evaluate<number[]>('frameTimes');
  const tasks = await page.evaluate<number[]>('tasks');
  const took = times.slice(1).map((at, n) => at - (times[n] ?? at));
  const perSecond = new Map<number, number>();
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  for (const at of times) {
    const second = Math.floor((at - first) / 1_000);
    if (first + (second + 1) * 1_000 <= last) perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const fewest = Math.min(...perSecond.values());
  console.error(`fewest frames in a second: ${fewest}`);
  return [percentile(took, 0.95), 1_000 / fewest, Math.max(...tasks)];
}
