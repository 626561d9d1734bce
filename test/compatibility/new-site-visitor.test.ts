import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, until, type Answer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  expectStatus,
  makeAvailableOperator,
  makeOperator,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  offersOf,
  setPresence,
} from '../support/world.ts';

/** D5.7: programs that bring visitors from elsewhere create the visitor together with the ticket or request. */
const { server, account } = await openWorld({ webhookAllowCidrs: ['127.0.0.0/8'] });
const program = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
const visitor = { site_id: account.siteId, name: 'Demo visitor' };

async function countVisitors(): Promise<number> {
  const [row] = await server.database.sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM visitors`;
  return row?.count ?? 0;
}

async function send(path: string, body: Json, headers: Record<string, string> = {}): Promise<Answer> {
  return call(server, `POST ${path}`, { token: program.token, body, headers });
}

/** The answer has headers, and existing programs send them as they are. */
async function asVisitor(made: Json, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { headers: made.visitor_authentication, body });
}

test('2.15 a request for an operator creates its visitor, for whom the program then acts', async () => {
  const operator = await makeAvailableOperator(server, account);
  const receiver = await startReceiver();
  const webhook = { url: receiver.url, method: 'POST', events: ['engagement.start'] };
  const body = { media: 'text', operator_id: operator.id, new_site_visitor: visitor, webhooks: [webhook] };
  const made = expectStatus(await send('/engagement_requests', body), 201).body;
  assert.deepEqual([made.operator_id, made.origin, made.site_id], [operator.id, 'visitor', account.siteId]);
  const self = expectStatus(await asVisitor(made, 'GET /visitor'), 200).body;
  assert.deepEqual([self.id, self.name, self.site_id], [made.visitor_id, 'Demo visitor', account.siteId]);
  const engagement = await acceptOffer(server, operator);
  const path = `/engagements/${engagement}/chat_messages/${randomUUID()}`;
  expectStatus(await asVisitor(made, `PUT ${path}`, { content: 'Hello' }), 200);
  await until(() => receiver.arrived.some(({ event }) => event['event_type'] === 'engagement.start'));
  await receiver.close();
});

test('2.15 a ticket creates its visitor, in the teams that the program names', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { team_ids: [team] } });
  const body = { media: 'text', queue_id: queue, new_site_visitor: { ...visitor, team_ids: [team] } };
  const made = expectStatus(await send('/queue_tickets', body), 201).body;
  assert.deepEqual([made.state, made.queue_ids], ['waiting', [queue]]);
  const self = expectStatus(await asVisitor(made, 'GET /visitor'), 200).body;
  assert.deepEqual([self.id, self.team_ids], [made.visitor_id, [team]]);
  expectStatus(await asVisitor(made, `PATCH /queue_tickets/${made.id}`, { action: 'cancel' }), 200);
});

test('a refused ticket or request leaves no visitor behind', async () => {
  const full = await makeQueue(server, account, { capacity_policy: { type: 'fixed', capacity: 0 } });
  const away = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const before = await countVisitors();
  const ticket = await send('/queue_tickets', { media: 'text', queue_id: full, new_site_visitor: visitor });
  assert.equal(expectStatus(ticket, 409).body.error, 'queue_full');
  const request = await send('/engagement_requests', {
    media: 'text',
    operator_id: away.id,
    new_site_visitor: visitor,
  });
  assert.equal(expectStatus(request, 409).body.error, 'operator_unavailable');
  assert.equal(await countVisitors(), before);
});

test('of a ticket that is refused and one that is accepted in the same turn, only one leaves a visitor', async () => {
  const queue = await makeQueue(server, account, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 1 },
  });
  const before = await countVisitors();
  const body = { media: 'text', queue_id: queue, new_site_visitor: visitor };
  const answers = await Promise.all([1, 2, 3, 4].map(async () => send('/queue_tickets', body)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409, 409],
  );
  assert.equal(await countVisitors(), before + 1);
});

test('a repeated request creates one visitor, also if the first answer was lost', async () => {
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const body = { media: 'text', queue_id: queue, new_site_visitor: visitor };
  const headers = { 'idempotency-key': randomUUID() };
  const before = await countVisitors();
  const first = expectStatus(await send('/queue_tickets', body, headers), 201).body;
  assert.deepEqual(expectStatus(await send('/queue_tickets', body, headers), 201).body, first);
  // The ticket is committed before the answer is stored; a process that is killed in between leaves this.
  await server.database.sql`DELETE FROM idempotency_keys`;
  const again = expectStatus(await send('/queue_tickets', body, headers), 201).body;
  assert.deepEqual([again.id, again.visitor_id], [first.id, first.visitor_id]);
  expectStatus(await asVisitor(again, 'GET /visitor'), 200);
  assert.equal(await countVisitors(), before + 1);
});

test('the new visitor is in the audit log', async () => {
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const body = { media: 'text', queue_id: queue, new_site_visitor: visitor };
  const made = expectStatus(await send('/queue_tickets', body), 201).body;
  const { audit_log: entries } = (await call(server, 'GET /audit_log', { token: account.admin })).body;
  const entry = entries.find(({ target }: Json) => target.id === made.visitor_id);
  assert.deepEqual([entry?.action, entry?.actor.id], ['visitor.create', program.id]);
});

test('what contradicts the new visitor is refused, and so is a visitor who sends one', async () => {
  const other = await makeSite(server, account);
  const existing = await makeVisitor(server, account);
  const refusals: readonly (readonly [string, Json, string])[] = [
    ['/queue_tickets', { site_id: account.siteId, media: 'text' }, '/new_site_visitor'],
    ['/queue_tickets', { media: 'text', new_site_visitor: { name: 'Nowhere' } }, '/site_id'],
    [
      '/queue_tickets',
      { site_id: account.siteId, media: 'text', new_site_visitor: { site_id: other } },
      '/new_site_visitor/site_id',
    ],
    ['/queue_tickets', { media: 'text', new_site_visitor: { ...visitor, odd: 1 } }, '/new_site_visitor/odd'],
    [
      '/queue_tickets',
      { media: 'text', new_site_visitor: { ...visitor, team_ids: [randomUUID()] } },
      '/new_site_visitor/team_ids/0',
    ],
    ['/engagement_requests', { media: 'text', new_site_visitor: visitor }, '/operator_id'],
    ['/engagement_requests', { media: 'text', visitor_id: existing.id, new_site_visitor: visitor }, '/visitor_id'],
  ];
  const before = await countVisitors();
  for (const [path, body, attribute] of refusals) {
    const { body: problem } = expectStatus(await send(path, body), 422);
    assert.equal(problem.details[0].attribute, attribute, JSON.stringify(problem));
  }
  const own = { media: 'text', new_site_visitor: visitor };
  const byVisitor = await call(server, 'POST /queue_tickets', { token: existing.token, body: own });
  assert.equal(expectStatus(byVisitor, 422).body.details[0].attribute, '/new_site_visitor');
  const elsewhere = { media: 'text', new_site_visitor: { site_id: other } };
  expectStatus(await send('/queue_tickets', elsewhere), 404);
  assert.equal(await countVisitors(), before);
});

test('an operator who asks a known visitor is still the side that asks', async () => {
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await setPresence(server, operator, { available: false });
  const known = await makeVisitor(server, account);
  const body = { site_id: account.siteId, media: 'text', visitor_id: known.id };
  const made = await call(server, 'POST /engagement_requests', { token: operator.token, body });
  assert.deepEqual([expectStatus(made, 201).body.origin, 'visitor_authentication' in made.body], ['operator', false]);
  assert.equal((await offersOf(server, operator)).length, 1);
});
