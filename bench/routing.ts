import { startCountingUsher, statementsPerRow } from './measuring/counting.ts';
import { withDatabase } from './measuring/databases.ts';
import type { Comparison, Entry, Limit } from './measuring/harness.ts';
import { median } from './measuring/harness.ts';
import type { Lab, Size } from './measuring/lab.ts';
import { temporaryFolder } from './measuring/processes.ts';
import { RawClient } from './measuring/raw-client.ts';
import { boardCommandMicros, type BoardSize } from './routing-board.ts';
import { engagementsPerSecond, openFloor, type Floor } from './routing-load.ts';
import { firstSite, signIn, startUsher, type Usher } from './measuring/usher.ts';

interface RoutingSize {
  readonly board: BoardSize;
  /** People in the load over HTTP, and its duration. */
  readonly operators: number;
  readonly visitors: number;
  readonly seconds: number;
  /** Offers that are timed, and operators who receive them. */
  readonly offers: number;
  readonly desks: number;
  /** People in a small account, and waiting visitors and operators in a large one. */
  readonly few: number;
  readonly manyWaiting: number;
  readonly manyOperators: number;
  /** Enqueues that are timed. */
  readonly enqueues: number;
}

const sizes: Readonly<Record<Size, RoutingSize>> = {
  full: {
    board: { operators: 10_000, queues: 500, waiting: 100_000, commands: 150_000 },
    operators: 100,
    visitors: 400,
    seconds: 5,
    offers: 500,
    desks: 20,
    few: 100,
    manyWaiting: 100_000,
    manyOperators: 10_000,
    enqueues: 200,
  },
  short: {
    board: { operators: 60, queues: 5, waiting: 500, commands: 1_000 },
    operators: 3,
    visitors: 10,
    seconds: 0.6,
    offers: 20,
    desks: 2,
    few: 5,
    manyWaiting: 50,
    manyOperators: 50,
    enqueues: 6,
  },
};
const formatCount = (count: number): string => count.toLocaleString('en');

/** The routing rules alone, complete engagements over HTTP, and the cost of a large account. */
export const routing: Entry = {
  name: 'routing',
  async prepare(lab) {
    const size = sizes[lab.size];
    const { few, manyWaiting, manyOperators, enqueues } = size;
    const { usher, session, siteId } = await startCountingUsher(lab);
    const floor = await openFloor(session, siteId, size);
    const small = await withSecondProcess(lab, await startWithWaiting(lab, { waiting: few, staff: few, enqueues }));
    const many = await withSecondProcess(
      lab,
      await startWithWaiting(lab, { waiting: manyWaiting, staff: few, enqueues }),
    );
    const staffed = await startWithWaiting(lab, { waiting: few, staff: manyOperators, enqueues });
    const waiting = `${formatCount(manyWaiting)} waiting against ${few}`;
    return [
      boardAlone(size.board),
      completeEngagements(floor, size),
      statementsPerCommand(usher, floor, size),
      offerLatency(floor, size),
      compareEnqueueRates(`an enqueue with ${waiting}`, many, small),
      compareEnqueueRates(`an enqueue with ${formatCount(manyOperators)} operators against ${few}`, staffed, small),
      compareCatchUpRates(`catching up with another process, ${waiting}`, many, small),
    ];
  },
};

function boardAlone(board: BoardSize): Limit {
  const { operators, queues, waiting } = board;
  let measure: (() => number) | null = null;
  return {
    name: `the board alone, one command (${formatCount(operators)} operators, ${queues} queues, ${formatCount(waiting)} waiting)`,
    unit: 'µs',
    measure: async () => (measure ??= boardCommandMicros(board))(),
    atMost: 8,
  };
}

function completeEngagements(floor: Floor, { seconds }: RoutingSize): Limit {
  return {
    name: 'a complete engagement over HTTP (enqueue, offer, accept, end)',
    unit: 'ms',
    measure: async () => 1000 / (await engagementsPerSecond(floor, seconds)),
    // 2,000 a second.
    atMost: 0.5,
  };
}

function statementsPerCommand(usher: Usher, floor: Floor, { seconds }: RoutingSize): Limit {
  return {
    name: 'SQL statements for a command at full load',
    unit: 'statements',
    async measure() {
      const load = async (): Promise<number> => engagementsPerSecond(floor, seconds);
      const each = await statementsPerRow(usher, load, { count: 'engagements', seconds });
      // Three commands: enqueue, accept and end. Reads by operators do not count as commands.
      return each / 3;
    },
    atMost: 0.3,
  };
}

/** An operator ends an engagement while visitors wait: the next offer is stored before the request is answered. */
function offerLatency(floor: Floor, size: RoutingSize): Limit {
  return {
    name: 'from a free operator to the offer written, p99 at 100 a second',
    unit: 'ms',
    measure: async () => p99OfOffers(floor, size),
    atMost: 25,
  };
}

async function p99OfOffers(floor: Floor, { offers, desks: count }: RoutingSize): Promise<number> {
  const { url } = floor.session;
  const line = new RawClient(url);
  const ticketInput = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
  const tokens = new Map(floor.visitors.map(({ id, token }) => [id, token]));
  for (const { token } of floor.visitors) await line.json(201, 'POST', '/queue_tickets', token, ticketInput);
  const desks = floor.operators
    .slice(0, count)
    .map((operator) => ({ ...operator, client: new RawClient(url), free: true }));
  for (const { id, token, client } of desks)
    await client.json(200, 'PUT', `/operators/${id}/presence`, token, { available: true });
  const took: number[] = [];
  const serve = async (desk: (typeof desks)[number]): Promise<void> => {
    const { client, token } = desk;
    const pending = await client.json<{ engagement_requests: { id: string; visitor_id: string }[] }>(
      200, 'GET', '/engagement_requests?state=pending', token,
    ); // prettier-ignore
    const [offer] = pending.engagement_requests;
    if (offer === undefined) throw new Error('a free operator got no offer although visitors wait');
    const accept = { action: 'accept' };
    const { engagement_id } = await client.json<{ engagement_id: string }>(
      200, 'PATCH', `/engagement_requests/${offer.id}`, token, accept,
    ); // prettier-ignore
    const began = performance.now();
    await client.json(200, 'PATCH', `/engagements/${engagement_id}`, token, { action: 'end' });
    took.push(performance.now() - began);
    await client.json(201, 'POST', '/queue_tickets', tokens.get(offer.visitor_id) ?? '', ticketInput);
    desk.free = true;
  };
  const running: Promise<void>[] = [];
  for (let n = 0; n < offers; n += 1) {
    const desk = desks.find(({ free }) => free);
    if (desk !== undefined) {
      desk.free = false;
      running.push(serve(desk));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(running);
  for (const { id, token, client } of desks) {
    await client.json(200, 'PUT', `/operators/${id}/presence`, token, { available: false });
    client.close();
  }
  for (const { token } of floor.visitors) {
    const { id } = JSON.parse((await line.send('POST', '/queue_tickets', token, ticketInput)).body) as { id: string };
    await line.json(200, 'PATCH', `/queue_tickets/${id}`, token, { action: 'cancel' });
  }
  line.close();
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Infinity;
}

interface Account {
  readonly floor: Floor;
  readonly databaseUrl: string;
}

/** An account that a second process serves, too. */
interface SharedAccount extends Account {
  readonly otherUrl: string;
}

/** Starts a server with one queue in which visitors wait. Its operators take phone calls only, so they get no offers. */
async function startWithWaiting(
  lab: Lab,
  { waiting, staff, enqueues }: { readonly waiting: number; readonly staff: number; readonly enqueues: number },
): Promise<Account> {
  const usher = await lab.startUsher();
  const session = await signIn(usher);
  const siteId = await firstSite(session);
  const floor = await openFloor(session, siteId, { operators: 0, visitors: enqueues });
  await withDatabase(usher.databaseUrl, async (sql) => {
    await sql`
      INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, available, media)
      SELECT gen_random_uuid(), s.account_id, 'Bench', 'bench-' || n || '@bench', 'operator', 1, true, '{phone}'
        FROM sites s, generate_series(1, ${staff}::integer) n WHERE s.id = ${siteId}`;
    await sql`
      INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
      SELECT account_id, id, ${siteId}, 'operator' FROM operators WHERE email LIKE 'bench-%'`;
    await sql`
      INSERT INTO visitors (id, account_id, site_id)
      SELECT gen_random_uuid(), s.account_id, s.id FROM sites s, generate_series(1, ${waiting}::integer) WHERE s.id = ${siteId}`;
    await sql`
      INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, refusals,
                                 queue_ids, entered_at, notes, enqueued_at, updated_at)
      SELECT gen_random_uuid(), account_id, site_id, id, row_number() OVER (), 'visitor', 'text', 'waiting', '', '{}', '{}',
             ARRAY[${floor.queueId}::uuid], ARRAY[now()], '{"source":null,"platform":"web","webhooks":[]}', now(), now()
        FROM visitors WHERE name IS NULL AND site_id = ${siteId} AND NOT id = ANY(${floor.visitors.map(({ id }) => id)}::uuid[])`;
    // The server reloads the board, as after changes by another process.
    await sql`UPDATE accounts SET last_seq = ${waiting}, board_version = board_version + 1000`;
    await sql`ANALYZE`;
  });
  return { floor, databaseUrl: usher.databaseUrl };
}

async function withSecondProcess({ scope }: Lab, account: Account): Promise<SharedAccount> {
  const other = await startUsher(scope, temporaryFolder(scope), account.databaseUrl);
  return { ...account, otherUrl: other.url };
}

/** The large account may be slower than the small one by a factor of at most 1.3. */
const atLeast = 1 / 1.3;

/** Compares the rates of enqueueing visitors one after the other, computed from medians. */
function compareEnqueueRates(name: string, large: Account, small: Account): Comparison {
  const rate = async ({ floor }: Account): Promise<number> =>
    1000 / (await medianEnqueueMs(floor, [floor.session.url]));
  return { name, unit: 'enqueues/s', ours: async () => rate(large), peer: async () => rate(small), atLeast };
}

/** Enqueues at two processes in turn, so that each must first catch up with the enqueue and the cancel of the other. */
function compareCatchUpRates(name: string, large: SharedAccount, small: SharedAccount): Comparison {
  const rate = async ({ floor, otherUrl }: SharedAccount): Promise<number> =>
    1000 / (await medianEnqueueMs(floor, [floor.session.url, otherUrl]));
  return { name, unit: 'enqueues/s', ours: async () => rate(large), peer: async () => rate(small), atLeast };
}

async function medianEnqueueMs(floor: Floor, urls: readonly string[]): Promise<number> {
  const clients = urls.map((url) => new RawClient(url));
  const ticketInput = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
  const took: number[] = [];
  for (const [n, { token }] of floor.visitors.entries()) {
    const client = clients[n % clients.length];
    if (client === undefined) throw new Error('there is no server to send requests to');
    const began = performance.now();
    const { id } = await client.json<{ id: string }>(201, 'POST', '/queue_tickets', token, ticketInput);
    took.push(performance.now() - began);
    await client.json(200, 'PATCH', `/queue_tickets/${id}`, token, { action: 'cancel' });
  }
  for (const client of clients) client.close();
  return median(took);
}
