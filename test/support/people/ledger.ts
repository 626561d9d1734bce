import assert from 'node:assert/strict';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import { call, type Answer } from '../server.ts';
import {
  makeOperator,
  makeQueue,
  makeVisitor,
  offersOf,
  setPresence,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

/** Operators, visitors and the tickets that were acknowledged, for an exact audit at the end. */
export interface Workday {
  readonly account: TestAccount;
  readonly queue: string;
  readonly operators: readonly TestOperator[];
  readonly visitors: readonly TestVisitor[];
  /** Tickets that were acknowledged, by visitor. */
  readonly acknowledged: Map<string, string>;
}

export async function openWorkday(server: ServerHandle, account: TestAccount, visitors: number): Promise<Workday> {
  const queue = await makeQueue(server, account, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 1_000 },
  });
  const assigned = [{ site_id: account.siteId, role: 'operator' }];
  const operators = [await makeOperator(server, account, assigned), await makeOperator(server, account, assigned)];
  for (const operator of operators) await setPresence(server, operator);
  const made: TestVisitor[] = [];
  while (made.length < visitors) made.push(await makeVisitor(server, account));
  return { account, queue, operators, visitors: made, acknowledged: new Map() };
}

/** Sends a request; `null` if the connection fails. */
async function tryCall(
  server: ServerHandle,
  request: string,
  options: Parameters<typeof call>[2],
): Promise<Answer | null> {
  try {
    return await call(server, request, options);
  } catch {
    return null;
  }
}

/** Repeats the request until a process answers. Requests must be idempotent. */
async function retryUntilAnswered(
  reach: () => ServerHandle,
  request: string,
  options: Parameters<typeof call>[2],
): Promise<Answer> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const answer = await tryCall(reach(), request, options);
    if (answer !== null && answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no server answered ${request}`);
}

/** Every visitor enqueues and retries until acknowledged, with a key: they may be served before the acknowledgement. */
export async function enqueueAll(day: Workday, reach: () => ServerHandle): Promise<void> {
  await Promise.all(
    day.visitors.map(async ({ id, token }) => {
      const body = { site_id: day.account.siteId, media: 'text', queue_id: day.queue };
      const answer = await retryUntilAnswered(reach, 'POST /queue_tickets', {
        token,
        body,
        headers: { 'idempotency-key': id },
      });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      day.acknowledged.set(id, answer.body.id);
    }),
  );
}

/** Operators accept their offers and end the engagements until every visitor has been served. */
export async function serveAll(day: Workday, reach: () => ServerHandle): Promise<void> {
  const served = new Set<string>();
  const shift = async (operator: TestOperator): Promise<void> => {
    const { token } = operator;
    const deadline = performance.now() + 60_000;
    while (served.size < day.visitors.length) {
      if (performance.now() > deadline) throw new Error(`only ${served.size} were served`);
      const [offer] = await offersOf(reach(), operator).catch(() => []);
      if (offer === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      const accepted = await retryUntilAnswered(reach, `PATCH /engagement_requests/${offer.id}`, {
        token,
        body: { action: 'accept' },
      });
      if (accepted.status !== 200) continue;
      const path = `PATCH /engagements/${accepted.body.engagement_id}`;
      const ended = await retryUntilAnswered(reach, path, { token, body: { action: 'end' } });
      assert.ok(ended.status === 200 || ended.status === 409, JSON.stringify(ended.body));
      served.add(offer.visitor_id);
    }
  };
  await Promise.all(day.operators.map(shift));
}

/** Asserts that every acknowledged ticket led to exactly one engagement, in order, and that events and changes match. */
export async function audit(day: Workday, sql: Sql): Promise<void> {
  const site = day.account.siteId;
  const tickets = await sql<{ id: string; visitor_id: string; state: string; seq: number; started: Date }[]>`
    SELECT t.id, t.visitor_id, t.state, t.seq::float8 AS seq, e.started_at AS started
      FROM queue_tickets t LEFT JOIN engagements e ON e.ticket_id = t.id
     WHERE t.site_id = ${site}
     ORDER BY t.seq`;
  assert.equal(tickets.length, day.visitors.length, 'one ticket a visitor');
  for (const { id, visitor_id, state } of tickets) {
    assert.equal(day.acknowledged.get(visitor_id), id);
    assert.equal(state, 'engaged');
  }
  const offered = await sql<{ seq: number }[]>`
    SELECT t.seq::float8 AS seq FROM engagement_requests r JOIN queue_tickets t ON t.id = r.ticket_id
     WHERE r.state = 'accepted' AND t.site_id = ${site} ORDER BY r.created_at, t.seq`;
  assert.deepEqual(
    offered.map(({ seq }) => seq),
    tickets.map(({ seq }) => seq),
    'offered in the order they came',
  );
  const [count] = await sql<Record<string, number>[]>`
    SELECT (SELECT count(*) FROM engagements WHERE site_id = ${site})::integer AS engagements,
           (SELECT count(DISTINCT visitor_id) FROM engagements WHERE site_id = ${site})::integer AS visitors,
           (SELECT count(*) FROM engagements WHERE ended_at IS NULL AND site_id = ${site})::integer AS unended,
           (SELECT count(*) FROM active_engagements)::integer AS active,
           (SELECT count(*) FROM engagement_requests WHERE state = 'pending' AND site_id = ${site})::integer AS pending,
           (SELECT count(*) FROM events WHERE type = 'engagement.start' AND site_id = ${site})::integer AS started,
           (SELECT count(*) FROM events WHERE type = 'engagement.end' AND site_id = ${site})::integer AS ended,
           (SELECT count(*) FROM events WHERE type = 'engagement.request.failure' AND site_id = ${site})::integer AS failures,
           (SELECT count(*) FROM engagement_requests WHERE state = 'failed' AND site_id = ${site})::integer AS failed,
           (SELECT visitors FROM queue_states WHERE queue_id = ${day.queue}) AS waiting`;
  const all = day.visitors.length;
  assert.ok(count);
  const { failures, failed, ...rest } = count;
  assert.deepEqual(rest, {
    engagements: all,
    visitors: all,
    unended: 0,
    active: 0,
    pending: 0,
    started: all,
    ended: all,
    waiting: 0,
  });
  assert.equal(failures, failed);
}
