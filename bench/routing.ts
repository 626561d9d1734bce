import { connect } from '../packages/server/src/platform/database.ts';
import { firstSite, socketOf } from './api.ts';
import { startCounting, statementsDuring } from './counting.ts';
import type { Comparison, Entry, Limit } from './harness.ts';
import { median } from './harness.ts';
import { temporaryFolder } from './processes.ts';
import { RawClient } from './raw-client.ts';
import { boardCommandMicros } from './routing-board.ts';
import { engagementsPerSecond, openFloor, type Floor } from './routing-load.ts';
import { signIn, startUsher, type Usher } from './usher.ts';

const operators = 100;
const visitors = 400;
const loadSeconds = 5;

/** From the pure rules to complete engagements over HTTP, and what a large account costs. */
export const routing: Entry = {
  name: 'routing',
  async prepare(scope) {
    const { usher, session, siteId } = await startCounting(scope);
    const floor = await openFloor(session, siteId, { operators, visitors });
    const small = await startWithWaiting(scope, { waiting: 100, staff: 100 });
    const many = await startWithWaiting(scope, { waiting: 100_000, staff: 100 });
    const staffed = await startWithWaiting(scope, { waiting: 100, staff: 10_000 });
    return [
      boardAlone(),
      completeEngagements(floor),
      statementsPerCommand(usher, floor),
      freeToOffer(floor),
      grows('an enqueue with 100,000 waiting against 100', many, small),
      grows('an enqueue with 10,000 operators against 100', staffed, small),
      grows('catching up with another process, 100,000 waiting against 100', many, small, 'two'),
    ];
  },
};

function boardAlone(): Limit {
  let measure: (() => number) | null = null;
  return {
    name: 'the board alone, one command (10,000 operators, 500 queues, 100,000 waiting)',
    unit: 'µs',
    measure: async () => (measure ??= boardCommandMicros({ operators: 10_000, queues: 500, waiting: 100_000 }))(),
    // 200,000 commands a second.
    atMost: 5,
  };
}

function completeEngagements(floor: Floor): Limit {
  return {
    name: 'a complete engagement over HTTP (enqueue, offer, accept, end)',
    unit: 'ms',
    measure: async () => 1000 / (await engagementsPerSecond(floor, loadSeconds)),
    // 800 a second.
    atMost: 1.25,
  };
}

function statementsPerCommand(usher: Usher, floor: Floor): Limit {
  return {
    name: 'SQL statements for a command at full load',
    unit: 'statements',
    async measure() {
      const load = async (): Promise<number> => engagementsPerSecond(floor, loadSeconds);
      const each = await statementsDuring(usher, load, { count: 'engagements', seconds: loadSeconds });
      // Enqueue, accept and end; what operators look at besides is not counted as a command.
      return each / 3;
    },
    atMost: 0.3,
  };
}

/** An operator ends an engagement while others wait: when it is told so, the next offer is written. */
function freeToOffer(floor: Floor): Limit {
  return {
    name: 'from a free operator to the offer written, p99 at 100 a second',
    unit: 'ms',
    measure: async () => p99OfOffers(floor),
    atMost: 25,
  };
}

async function p99OfOffers(floor: Floor): Promise<number> {
  const { url } = floor.session;
  const line = new RawClient(url);
  const wanted = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
  const tokens = new Map(floor.visitors.map(({ id, token }) => [id, token]));
  for (const { token } of floor.visitors) await line.json(201, 'POST', '/queue_tickets', token, wanted);
  const desks = floor.operators
    .slice(0, 20)
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
    if (offer === undefined) throw new Error('somebody waits and the operator is free');
    const accept = { action: 'accept' };
    const { engagement_id } = await client.json<{ engagement_id: string }>(
      200, 'PATCH', `/engagement_requests/${offer.id}`, token, accept,
    ); // prettier-ignore
    const began = performance.now();
    await client.json(200, 'PATCH', `/engagements/${engagement_id}`, token, { action: 'end' });
    took.push(performance.now() - began);
    await client.json(201, 'POST', '/queue_tickets', tokens.get(offer.visitor_id) ?? '', wanted);
    desk.free = true;
  };
  const running: Promise<void>[] = [];
  for (let n = 0; n < 500; n += 1) {
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
    const { id } = JSON.parse((await line.send('POST', '/queue_tickets', token, wanted)).body) as { id: string };
    await line.json(200, 'PATCH', `/queue_tickets/${id}`, token, { action: 'cancel' });
  }
  line.close();
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Infinity;
}

interface Standing {
  readonly floor: Floor;
  /** Another process on the same database. */
  readonly otherUrl: string;
}

/** A server in whose one queue so many wait already, for so many operators who are all busy elsewhere. */
async function startWithWaiting(
  scope: AsyncDisposableStack,
  { waiting, staff }: { readonly waiting: number; readonly staff: number },
): Promise<Standing> {
  const usher = await startUsher(scope, temporaryFolder(scope));
  const session = await signIn(usher);
  const siteId = await firstSite(session);
  const floor = await openFloor(session, siteId, { operators: 0, visitors: 200 });
  const { socketDirectory: directory, user, database } = socketOf(usher);
  const sql = connect(
    { kind: 'socket', directory, user, database },
    { max: 1, connection: { statement_timeout: 120_000 } },
  );
  try {
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
    // As if another process had moved everything: the server reads it all anew.
    await sql`UPDATE accounts SET last_seq = ${waiting}, board_version = board_version + 1000`;
    await sql`ANALYZE`;
  } finally {
    await sql.end();
  }
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(directory)}`;
  const other = await startUsher(scope, temporaryFolder(scope), url);
  return { floor, otherUrl: other.url };
}

/** Rates of enqueueing one after the other, from medians: the large account must be as fast within a factor of 1.3. */
function grows(name: string, large: Standing, small: Standing, by: 'one' | 'two' = 'one'): Comparison {
  return {
    name,
    unit: 'enqueues/s',
    ours: async () => 1000 / (await medianEnqueueMs(large, by)),
    peer: async () => 1000 / (await medianEnqueueMs(small, by)),
    atLeast: 1 / 1.3,
  };
}

/** With two processes they take turns, so that each must catch up with what the other did: an enqueue and a cancel. */
async function medianEnqueueMs({ floor, otherUrl }: Standing, by: 'one' | 'two'): Promise<number> {
  const clients = [
    new RawClient(floor.session.url),
    new RawClient(by === 'one' ? floor.session.url : otherUrl),
  ] as const;
  const wanted = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
  const took: number[] = [];
  for (const [n, { token }] of floor.visitors.entries()) {
    const client = clients[n % 2 === 0 ? 0 : 1];
    const began = performance.now();
    const { id } = await client.json<{ id: string }>(201, 'POST', '/queue_tickets', token, wanted);
    took.push(performance.now() - began);
    await client.json(200, 'PATCH', `/queue_tickets/${id}`, token, { action: 'cancel' });
  }
  for (const client of clients) client.close();
  return median(took);
}
