import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Answer, type Json, type TestServer } from '../support/server.ts';
import {
  acceptOffer,
  requestTicket,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  offersOf,
  setPresence,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../support/world.ts';

/** Edge cases of routing: permissions, invalid instants, idempotency keys and two processes. */

let account: TestAccount;
let queue: string;
const server = await forThisFile(startTestServer());

/** Makes a new account with a queue that every visitor may enter. */
async function openAccount(): Promise<void> {
  account = await makeAccount(server);
  queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
}

async function patch(path: string, who: { token: string }, body: Json): Promise<Answer> {
  return call(server, `PATCH ${path}`, { token: who.token, body });
}

async function ticketOf(ticket: { id: string; visitor: TestVisitor }, on: TestServer = server): Promise<Json> {
  return expectStatus(await call(on, `GET /queue_tickets/${ticket.id}`, { token: ticket.visitor.token }), 200).body;
}

/** An operator with a new visitor. */
async function engaged(): Promise<{ operator: TestOperator; visitor: TestVisitor; engagement: string }> {
  const operator = await makeAvailableOperator(server, account);
  const { visitor } = await enqueue(server, account, queue);
  return { operator, visitor, engagement: await acceptOffer(server, operator) };
}

test('after a transfer the previous operator cannot cancel a transfer of the next operator', async () => {
  await openAccount();
  const { operator: first, engagement } = await engaged();
  const second = await makeAvailableOperator(server, account);
  const body = { engagement_id: engagement, operator_id: second.id };
  const { id } = expectStatus(await call(server, 'POST /transfer_requests', { token: first.token, body }), 201).body;
  expectStatus(await patch(`/transfer_requests/${id}`, second, { action: 'accept' }), 200);
  await setPresence(server, first, { available: false });
  const onward = { engagement_id: engagement, queue_id: queue, media: 'text' };
  const ticket = expectStatus(
    await call(server, 'POST /transfer_tickets', { token: second.token, body: onward }),
    201,
  ).body;
  const path = `/transfer_tickets/${ticket.id}`;
  assert.equal(expectStatus(await patch(path, first, { action: 'cancel' }), 403).body.error, 'forbidden');
  const seen = expectStatus(await call(server, `GET ${path}`, { token: first.token }), 200).body;
  assert.equal(seen.state, 'waiting');
  assert.equal(expectStatus(await patch(path, second, { action: 'cancel' }), 200).body.state, 'canceled');
  assert.equal(expectStatus(await patch(path, second, { action: 'cancel' }), 200).body.state, 'canceled');
});

test('a token limited to some sites gives no access to offers, engagements and transfers on others', async () => {
  await openAccount();
  const other = await makeSite(server, account);
  const limitedTo = async (site: string): Promise<{ token: string }> => {
    const { id: api_key_id, secret: api_key_secret } = account.key;
    const body = { api_key_id, api_key_secret, site_ids: [site] };
    return expectStatus(await call(server, 'POST /operator_authentication/tokens', { body }), 200).body;
  };
  const [stranger, own, whole] = [await limitedTo(other), await limitedTo(account.siteId), { token: account.admin }];
  await setPresence(server, { id: account.adminId, token: account.admin });
  await enqueue(server, account, queue);
  const [offer] = await offersOf(server, whole);
  const path = `/engagement_requests/${offer.id}`;

  assert.deepEqual(await offersOf(server, stranger), []);
  const listed = await call(server, 'GET /engagement_requests', stranger);
  assert.deepEqual(expectStatus(listed, 200).body.engagement_requests, []);
  expectStatus(await call(server, `GET ${path}`, stranger), 404);
  for (const action of ['accept', 'decline', 'cancel']) expectStatus(await patch(path, stranger, { action }), 404);
  assert.deepEqual(await offersOf(server, own), [offer]);
  assert.deepEqual((await call(server, 'GET /engagement_requests', own)).body.engagement_requests, [offer]);

  const { engagement_id: id } = expectStatus(await patch(path, own, { action: 'accept' }), 200).body;
  expectStatus(await call(server, `GET /engagements/${id}`, stranger), 404);
  expectStatus(await patch(`/engagements/${id}`, stranger, { action: 'end' }), 404);
  const colleague = await makeAvailableOperator(server, account);
  const transfer = { engagement_id: id, operator_id: colleague.id };
  expectStatus(await call(server, 'POST /transfer_requests', { ...stranger, body: transfer }), 404);
  const requested = expectStatus(await call(server, 'POST /transfer_requests', { ...own, body: transfer }), 201).body;
  expectStatus(await call(server, `GET /transfer_requests/${requested.id}`, stranger), 404);
  expectStatus(await patch(`/transfer_requests/${requested.id}`, stranger, { action: 'cancel' }), 404);
  expectStatus(await patch(`/transfer_requests/${requested.id}`, own, { action: 'cancel' }), 200);
  expectStatus(await patch(`/engagements/${id}`, own, { action: 'end' }), 200);
});

test('requests to an operator who is removed from a site fail in every process', async () => {
  await openAccount();
  await using second = await startTestServer({}, server.database.address);
  const operator = await makeAvailableOperator(server, account);
  const ticket = await enqueue(server, account, queue);
  const [offer] = await offersOf(server, operator);
  assert.equal((await ticketOf(ticket, second)).state, 'offered');
  expectStatus(await patch(`/operators/${operator.id}`, { token: account.admin }, { assignments: [] }), 200);
  await until(async () => (await ticketOf(ticket, second)).state === 'waiting', 2_000);
  expectStatus(await patch(`/engagement_requests/${offer.id}`, operator, { action: 'accept' }), 404);
  const failed = await call(server, `GET /engagement_requests?site_ids=${account.siteId}`, { token: account.admin });
  assert.equal(failed.body.engagement_requests[0].fail_reason, 'operator_left');
  // Assigned again, the operator gets the offer again at once, because no other operator can take the ticket.
  const assignments = [{ site_id: account.siteId, role: 'operator' }];
  expectStatus(await patch(`/operators/${operator.id}`, { token: account.admin }, { assignments }), 200);
  await until(async () => (await offersOf(second, operator)).length === 1, 2_000);
});

test('date-times that PostgreSQL cannot store are refused with their attribute', async () => {
  await openAccount();
  const ask = async (path: string): Promise<Json> => {
    const answer = await call(server, `GET ${path}`, { token: account.admin });
    return [answer.status, answer.body.details?.[0]?.attribute];
  };
  const bad = [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
    '2016-12-31T23:59:60Z',
  ];
  for (const at of bad.map((text) => encodeURIComponent(text))) {
    const stats = `/queues/${queue}/stats`;
    assert.deepEqual(await ask(`${stats}?from=${at}&to=2026-01-01T00:00:00Z`), [422, '/from']);
    assert.deepEqual(await ask(`${stats}?from=2026-01-01T00:00:00Z&to=${at}`), [422, '/to']);
    const engagements = `/engagements?site_ids=${account.siteId}`;
    assert.deepEqual(await ask(`${engagements}&start_date=${at}`), [422, '/start_date']);
    assert.deepEqual(await ask(`${engagements}&end_date=${at}`), [422, '/end_date']);
  }
  const widest = `/engagements?site_ids=${account.siteId}&start_date=0001-01-01T00:00:00Z&end_date=9999-12-31T23:59:59Z`;
  assert.deepEqual(await ask(widest), [200, undefined]);
});

test('a ticket for teams that are not on the site is refused, because nobody could serve it', async () => {
  await openAccount();
  const elsewhere = await makeTeam(server, account, await makeSite(server, account));
  const here = await makeTeam(server, account, account.siteId);
  const answer = expectStatus(
    await requestTicket(server, account, { team_ids: [here, elsewhere, account.siteId] }),
    422,
  ).body;
  assert.deepEqual(
    answer.details.map((each: Json) => each.attribute),
    ['/team_ids/1', '/team_ids/2'],
  );
  expectStatus(await requestTicket(server, account, { team_ids: [here] }), 201);
});

test('an Idempotency-Key returns the same ticket for a day, and creates another one after that', async () => {
  await openAccount();
  const visitor = await makeVisitor(server, account);
  const ask = async (media = 'text'): Promise<Answer> =>
    call(server, 'POST /queue_tickets', {
      token: visitor.token,
      body: { site_id: account.siteId, media, queue_id: queue },
      headers: { 'idempotency-key': 'again' },
    });
  const first = expectStatus(await ask(), 201).body;
  expectStatus(await patch(`/queue_tickets/${first.id}`, visitor, { action: 'cancel' }), 200);
  assert.deepEqual(expectStatus(await ask(), 201).body, first);
  assert.equal(expectStatus(await ask('audio'), 422).body.error, 'idempotency_key_reused');
  const { sql } = server.database;
  // The process died after the turn: the ticket is found by its id and returned in its current state.
  await sql`DELETE FROM idempotency_keys`;
  const found = expectStatus(await ask(), 201).body;
  assert.deepEqual([found.id, found.state], [first.id, 'canceled']);
  // After a day the key can be used again.
  await sql`DELETE FROM idempotency_keys`;
  await sql`UPDATE queue_tickets SET enqueued_at = enqueued_at - interval '25 hours' WHERE id = ${first.id}`;
  const next = expectStatus(await ask(), 201).body;
  assert.equal(next.state, 'waiting');
  assert.notEqual(next.id, first.id);
});

test('a transfer concurrent with the end of its engagement is created, or refused because it has ended', async () => {
  await openAccount();
  await using second = await startTestServer({}, server.database.address);
  for (let round = 0; round < 8; round += 1) {
    const { operator, engagement } = await engaged();
    const body = { engagement_id: engagement, queue_id: queue, media: 'text' };
    const [transfer, end] = await Promise.all([
      call(second, 'POST /transfer_tickets', { token: operator.token, body }),
      patch(`/engagements/${engagement}`, operator, { action: 'end' }),
    ]);
    expectStatus(end, 200);
    if (transfer.status !== 201) assert.equal(expectStatus(transfer, 409).body.error, 'engagement_ended');
    else {
      const path = `GET /transfer_tickets/${transfer.body.id}`;
      assert.equal((await call(server, path, { token: operator.token })).body.state, 'canceled');
    }
    await setPresence(server, operator, { available: false });
  }
});

test('a process that loads the board answers like the one that made the changes', async () => {
  await openAccount();
  const operators = await Promise.all(
    [1, 2, 3].map(async () => makeAvailableOperator(server, account, { expires_in_sec: 600 })),
  );
  for (let n = 0; n < 6; n += 1) await enqueue(server, account, queue);
  const [declining, accepting] = operators as [TestOperator, TestOperator];
  const [declined] = await offersOf(server, declining);
  expectStatus(await patch(`/engagement_requests/${declined.id}`, declining, { action: 'decline' }), 200);
  const engagement = await acceptOffer(server, accepting);
  const body = { engagement_id: engagement, queue_id: queue, media: 'text' };
  const transfer = expectStatus(
    await call(server, 'POST /transfer_tickets', { token: accepting.token, body }),
    201,
  ).body;
  const { admin } = account;
  const read = async (from: TestServer): Promise<Json> => ({
    offers: await Promise.all(operators.map(async (operator) => offersOf(from, operator))),
    transfer: (await call(from, `GET /transfer_tickets/${transfer.id}`, { token: accepting.token })).body,
    line: (await call(from, `GET /queues/${queue}/tickets`, { token: admin })).body,
    queue: (await call(from, `GET /queues/${queue}`, { token: admin })).body.visitors_count,
  });
  const first = await read(server);
  assert.equal(first.queue, first.line.queue_tickets.length);
  await using fresh = await startTestServer({}, server.database.address);
  assert.deepEqual(await read(fresh), first);
});

test('D3.4, D5.8, D5.14 a visitor engaged through a fallback on another site has no other ticket on their own site', async () => {
  await openAccount();
  const far = await makeSite(server, account);
  const fallback = await makeQueue(server, account, { site_id: far, when_unstaffed: 'accept' });
  const near = await makeQueue(server, account, { fallback_queue_id: fallback });
  const { visitor } = await enqueue(server, account, near);
  const operator = await makeOperator(server, account, [{ site_id: far, role: 'operator' }]);
  await setPresence(server, operator);
  const engagement = await acceptOffer(server, operator);
  const again = await requestTicket(server, account, { queue_ids: [queue] }, visitor);
  assert.equal(expectStatus(again, 409).body.error, 'already_engaged');
  const list = await call(server, `GET /engagements?site_ids[]=${account.siteId}`, { token: visitor.token });
  assert.deepEqual(
    list.body.engagements.map(({ id, site_id }: Json) => [id, site_id]),
    [[engagement, far]],
  );
});

test('a cursor without a valid instant is refused', async () => {
  await openAccount();
  for (const ms of ['253402300800000', '999999999999999', '-1']) {
    const cursor = Buffer.from(`${ms} ${account.siteId}`).toString('base64url');
    const answer = await call(server, `GET /engagement_requests?cursor=${cursor}`, { token: account.admin });
    assert.equal(expectStatus(answer, 422).body.details[0].attribute, '/cursor');
  }
});

test('pending requests survive a stop of all processes, however long', async () => {
  const first = await startTestServer();
  const own = await makeAccount(first);
  const operator = await makeAvailableOperator(first, own);
  const visitor = await makeVisitor(first, own);
  const body = { site_id: own.siteId, media: 'text', operator_id: operator.id };
  const requested = await call(first, 'POST /engagement_requests', { token: visitor.token, body });
  const { id } = expectStatus(requested, 201).body;
  const { address } = first.database;
  await first[Symbol.asyncDispose]();
  await using second = await startTestServer({}, address);
  // Three days pass.
  await second.database.sql`
    UPDATE engagement_requests SET created_at = created_at - interval '3 days'`;
  await second.database.sql`
    UPDATE accounts SET turned_at = turned_at - interval '3 days', next_due_at = next_due_at - interval '3 days'`;
  const read = async () => call(second, `GET /engagement_requests/${id}`, { token: visitor.token });
  await until(async () => (await read()).body.fail_reason === 'timed_out');
});
