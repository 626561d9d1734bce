import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  requestTicket,
  enqueue,
  eventsOf,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  makeVisitor,
  offersOf,
  setPresence,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

let account: TestAccount;
const server = await forThisFile(startTestServer());

async function patch(path: string, who: { token: string }, body: Json) {
  return call(server, `PATCH ${path}`, { token: who.token, body });
}

test('a visitor waits, is offered, engaged and ends, with an event for each step #oldest', async () => {
  account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept', welcome_message: 'Hello' });
  const requested = await requestTicket(server, account, { queue_ids: [queue], source: 'page' });
  const ticket = expectStatus(requested, 201).body;
  assert.equal(requested.headers.get('location'), `/queue_tickets/${ticket.id}`);
  const { created_at, updated_at, ...shown } = ticket;
  assert.equal(created_at, updated_at);
  assert.deepEqual(shown, {
    id: ticket.id,
    site_id: account.siteId,
    visitor_id: requested.visitor.id,
    media: 'text',
    queue_ids: [queue],
    state: 'waiting',
    position: 1,
    estimated_wait_sec: null,
    engagement_id: null,
  });
  const second = await enqueue(server, account, queue);
  const read = async (id: string, token: string): Promise<Json> =>
    expectStatus(await call(server, `GET /queue_tickets/${id}`, { token }), 200).body;
  assert.equal((await read(second.id, second.visitor.token)).position, 2);

  const operator = await makeAvailableOperator(server, account);
  const [offer] = await offersOf(server, operator);
  assert.equal(offer.queue_ticket_id, ticket.id);
  assert.deepEqual(
    [offer.origin, offer.timeout, offer.state, offer.visitor_id, offer.source],
    ['queue', 30, 'pending', requested.visitor.id, 'page'],
  );
  assert.equal((await read(ticket.id, requested.visitor.token)).state, 'offered');
  assert.equal((await read(second.id, second.visitor.token)).position, 1);

  const accepted = expectStatus(
    await patch(`/engagement_requests/${offer.id}`, operator, { action: 'accept' }),
    200,
  ).body;
  assert.equal(accepted.state, 'accepted');
  const again = expectStatus(await patch(`/engagement_requests/${offer.id}`, operator, { action: 'accept' }), 200).body;
  assert.equal(again.engagement_id, accepted.engagement_id);
  const path = `/engagements/${accepted.engagement_id}`;
  const engagement = expectStatus(await call(server, `GET ${path}`, { token: operator.token }), 200).body;
  assert.equal(engagement.state, 'active');
  assert.equal((await read(ticket.id, requested.visitor.token)).engagement_id, engagement.id);

  const ended = expectStatus(await patch(path, requested.visitor, { action: 'end' }), 200).body;
  assert.deepEqual(ended, { id: engagement.id, sub_engagement_id: engagement.current_sub_engagement.id });
  const gone = expectStatus(await patch(path, requested.visitor, { action: 'end' }), 409).body;
  assert.deepEqual([gone.error, gone.details], ['engagement_ended', [{ attribute: '/state', detail: 'ended' }]]);
  // The operator is free again and gets the next offer in the same turn.
  const [next] = await offersOf(server, operator);
  assert.equal(next.queue_ticket_id, second.id);

  const sub = { id: ended.sub_engagement_id, operator_id: operator.id, site_id: account.siteId };
  const about = { id: engagement.id, engagement_request_id: offer.id, visitor_id: requested.visitor.id };
  const events = await eventsOf(server, account);
  assert.deepEqual(
    events.filter((event) => event.event_type !== 'engagement.chat.message'),
    [
      {
        event_type: 'engagement.start',
        engagement: {
          ...about,
          current_sub_engagement: sub,
          source: 'page',
          legs: [{ ...sub, media: 'text', started_at: engagement.started_at, ended_at: null }],
          audio_recording_urls: [],
        },
      },
      {
        event_type: 'engagement.end',
        engagement: { ...about, current_sub_engagement: sub, end_reason: 'visitor_hung_up' },
      },
    ],
  );
  const message = events.find((event) => event.event_type === 'engagement.chat.message');
  assert.equal(events.indexOf(message), 1);
  const { timestamp, id, ...rest } = message.message;
  assert.ok(Date.parse(timestamp) > 0 && id !== undefined);
  assert.deepEqual(rest, {
    engagement_id: engagement.id,
    sub_engagement_id: sub.id,
    content: 'Hello',
    status: 'sent',
    sender: { type: 'operator' },
    target: 'visitor',
    type: 'chat',
    attachment: null,
  });
  assert.equal(message.undelivered_messages, false);
});

test('D3.3 if no queue admits the visitor, the answer has a code and the reason of each candidate', async () => {
  const own = await makeAccount(server);
  const unstaffed = await makeQueue(server, own);
  const full = await makeQueue(server, own, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 0 },
  });
  const phone = await makeQueue(server, own, { when_unstaffed: 'accept', routing_policy: { media: ['phone'] } });
  const refused = expectStatus(await requestTicket(server, own, { queue_ids: [unstaffed, full, phone] }), 409).body;
  assert.equal(refused.error, 'queue_full');
  assert.deepEqual(
    refused.details.map(({ attribute, detail }: Json) => [attribute, detail.split(':')[0]]),
    [
      ['/queue_ids/0', 'queue_unstaffed'],
      ['/queue_ids/1', 'queue_full'],
      ['/queue_ids/2', 'no_matching_queue'],
    ],
  );
  assert.equal(
    expectStatus(await requestTicket(server, own, { queue_id: unstaffed }), 409).body.error,
    'queue_unstaffed',
  );
  assert.equal(
    expectStatus(await requestTicket(server, own, { queue_id: phone }), 409).body.error,
    'no_matching_queue',
  );
  assert.equal(expectStatus(await requestTicket(server, own, { media: 'phone' }), 201).body.queue_ids[0], phone);
  const elsewhere = await makeQueue(server, await makeAccount(server));
  const foreign = expectStatus(await requestTicket(server, own, { queue_ids: [full, elsewhere] }), 422).body;
  assert.deepEqual(foreign.details, [{ attribute: '/queue_ids/1', detail: 'is not a queue of the site' }]);
  const both = expectStatus(await requestTicket(server, own, { queue_id: full, team_ids: [full] }), 422).body;
  assert.deepEqual(both.details, [{ attribute: '/team_ids', detail: 'cannot be combined with queue_id' }]);
});

test('D3.4 a visitor has one active ticket per site: the same criteria return it, other criteria or an engagement are refused', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const other = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const { id, visitor } = await enqueue(server, own, queue);
  const same = expectStatus(await requestTicket(server, own, { queue_id: queue }, visitor), 200).body;
  assert.deepEqual([same.id, same.position], [id, 1]);
  const conflict = expectStatus(await requestTicket(server, own, { queue_ids: [queue, other] }, visitor), 409);
  assert.equal(conflict.body.error, 'ticket_conflict');
  const operator = await makeAvailableOperator(server, own);
  await acceptOffer(server, operator);
  const engaged = expectStatus(await requestTicket(server, own, { queue_ids: [queue] }, visitor), 409);
  assert.equal(engaged.body.error, 'already_engaged');
});

test('D5.11 repeating an Idempotency-Key creates one ticket and one request', async () => {
  const own = await makeAccount(server);
  await makeQueue(server, own, { when_unstaffed: 'accept' });
  const visitor = await makeVisitor(server, own);
  const options = {
    token: visitor.token,
    body: { site_id: own.siteId, media: 'text' },
    headers: { 'idempotency-key': 'one' },
  };
  const answers = await Promise.all([1, 2, 3].map(async () => call(server, 'POST /queue_tickets', options)));
  for (const answer of answers) expectStatus(answer, 201);
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  // The process died before it stored the response: the ticket exists, but its key does not.
  await server.database.sql`DELETE FROM idempotency_keys`;
  const repeated = expectStatus(await call(server, 'POST /queue_tickets', options), 201);
  assert.equal(repeated.body.id, answers[0]?.body.id);
  const [count] = await server.database.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM queue_tickets WHERE visitor_id = ${visitor.id}`;
  assert.equal(count?.count, 1);
});

/** The operator with the offer, the operator without, and the offer. */
async function byOffer(one: TestOperator, two: TestOperator): Promise<[TestOperator, TestOperator, Json]> {
  const [first] = await offersOf(server, one);
  if (first !== undefined) return [one, two, first];
  const [second] = await offersOf(server, two);
  return [two, one, second];
}

test('D4.5 a declined ticket is offered to another operator, and canceling a ticket ends its offer', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operators = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)] as const;
  const { id, visitor } = await enqueue(server, own, queue);
  const [one, two, first] = await byOffer(...operators);
  const declined = await patch(`/engagement_requests/${first.id}`, one, { action: 'decline' });
  assert.equal(expectStatus(declined, 200).body.fail_reason, 'rejected');
  const [second] = await offersOf(server, two);
  assert.equal(second.queue_ticket_id, id);
  assert.deepEqual(await offersOf(server, one), []);
  const gone = expectStatus(await patch(`/engagement_requests/${first.id}`, one, { action: 'accept' }), 409).body;
  assert.deepEqual([gone.error, gone.details], ['request_ended', [{ attribute: '/state', detail: 'failed' }]]);
  assert.equal((await patch(`/engagement_requests/${second.id}`, one, { action: 'accept' })).status, 403);
  const outsider = await makeAccount(server);
  assert.equal(
    (await patch(`/engagement_requests/${second.id}`, { token: outsider.admin }, { action: 'accept' })).status,
    404,
  );
  const canceled = expectStatus(await patch(`/queue_tickets/${id}`, visitor, { action: 'cancel' }), 200).body;
  assert.equal(canceled.state, 'canceled');
  expectStatus(await patch(`/queue_tickets/${id}`, visitor, { action: 'cancel' }), 200);
  assert.deepEqual(
    (await eventsOf(server, own)).map(({ event_type, engagement_request }) => [
      event_type,
      engagement_request.fail_reason,
    ]),
    [
      ['engagement.request.failure', 'rejected'],
      ['engagement.request.failure', 'visitor_cancel'],
    ],
  );
});

test('D4.5 an offer times out: the ticket is offered to another operator, and the one who missed it is unavailable', async () => {
  const own = await makeAccount(server);
  expectStatus(await patch(`/sites/${own.siteId}`, { token: own.admin }, { reactive_call_timeout: 1 }), 200);
  const queue = await makeQueue(server, own);
  const operators = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)] as const;
  const { id } = await enqueue(server, own, queue);
  const [one, two] = await byOffer(...operators);
  await until(async () => (await offersOf(server, two)).some((offer) => offer.queue_ticket_id === id));
  const missed = await call(server, `GET /operators/${one.id}`, { token: own.admin });
  assert.deepEqual([missed.body.available, missed.body.presence_reason], [false, 'missed_call']);
  assert.equal((await eventsOf(server, own))[0].engagement_request.fail_reason, 'timed_out');
});

test('D5.12 direct requests in both directions are accepted, declined, canceled and timed out', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const visitor = await makeVisitor(server, own);
  const ask = async (who: { token: string }, body: Json) =>
    call(server, 'POST /engagement_requests', {
      token: who.token,
      body: { site_id: own.siteId, media: 'text', ...body },
    });
  const fails: Json[] = [];
  const byVisitor = expectStatus(await ask(visitor, { operator_id: operator.id, visitor_id: operator.id }), 201).body;
  assert.deepEqual(
    [byVisitor.visitor_id, byVisitor.operator_id, byVisitor.timeout, byVisitor.origin, byVisitor.platform],
    [visitor.id, operator.id, 30, 'visitor', 'web'],
  );
  const busy = expectStatus(await ask(await makeVisitor(server, own), { operator_id: operator.id }), 409).body;
  assert.equal(busy.error, 'operator_unavailable');
  assert.equal((await patch(`/engagement_requests/${byVisitor.id}`, visitor, { action: 'accept' })).status, 403);
  fails.push(
    expectStatus(await patch(`/engagement_requests/${byVisitor.id}`, visitor, { action: 'cancel' }), 200).body,
  );

  const byOperator = expectStatus(await ask(operator, { visitor_id: visitor.id }), 201).body;
  assert.deepEqual([byOperator.timeout, byOperator.origin], [15, 'operator']);
  fails.push(
    expectStatus(await patch(`/engagement_requests/${byOperator.id}`, visitor, { action: 'decline' }), 200).body,
  );
  const recalled = expectStatus(await ask(operator, { visitor_id: visitor.id }), 201).body;
  fails.push(
    expectStatus(await patch(`/engagement_requests/${recalled.id}`, operator, { action: 'cancel' }), 200).body,
  );
  const broken = expectStatus(await ask(operator, { visitor_id: visitor.id }), 201).body;
  const failure = { action: 'decline', reason: 'error', message: 'no microphone' };
  fails.push(expectStatus(await patch(`/engagement_requests/${broken.id}`, visitor, failure), 200).body);
  const left = expectStatus(await ask(visitor, { operator_id: operator.id }), 201).body;
  await setPresence(server, operator, { available: false });
  fails.push(
    expectStatus(await call(server, `GET /engagement_requests/${left.id}`, { token: visitor.token }), 200).body,
  );
  assert.deepEqual(
    fails.map(({ fail_reason, fail_message }) => [fail_reason, fail_message]),
    [
      ['visitor_cancel', null],
      ['rejected', null],
      ['operator_cancel', null],
      ['error', 'no microphone'],
      ['operator_left', null],
    ],
  );
  const failures = (await eventsOf(server, own)).map(({ engagement_request }) => engagement_request);
  assert.deepEqual(
    failures.map(({ fail_reason }) => fail_reason),
    fails.map(({ fail_reason }) => fail_reason),
  );
  assert.deepEqual(
    failures.map((each) => 'fail_message' in each),
    [false, false, false, true, false],
  );

  assert.equal(expectStatus(await ask(visitor, { operator_id: operator.id }), 409).body.error, 'operator_unavailable');
  const { body: unknown } = await ask(visitor, { operator_id: visitor.id });
  assert.deepEqual(unknown.details, [{ attribute: '/operator_id', detail: 'is not an operator of the site' }]);
  const { body: missing } = await ask(visitor, {});
  assert.deepEqual(missing.details, [{ attribute: '/operator_id', detail: 'is required' }]);
  const last = expectStatus(await ask(operator, { visitor_id: visitor.id }), 201).body;
  const accepted = expectStatus(
    await patch(`/engagement_requests/${last.id}`, visitor, { action: 'accept' }),
    200,
  ).body;
  assert.ok(accepted.engagement_id);
  assert.equal(expectStatus(await ask(operator, { visitor_id: visitor.id }), 409).body.error, 'already_engaged');
});

test('when a visitor leaves, their ticket ends at once and their engagement after the grace period', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const { id, visitor } = await enqueue(server, own, queue);
  const body = { expires_in_sec: 1 };
  expectStatus(await call(server, `PUT /visitors/${visitor.id}/presence`, { token: visitor.token, body }), 200);
  await until(
    async () =>
      (await call(server, `GET /queue_tickets/${id}`, { token: visitor.token })).body.state === 'visitor_left',
  );
});

test('D13.3 the stats of a queue count the outcomes of its visitors', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const canceled = await enqueue(server, own, queue);
  await enqueue(server, own, queue);
  expectStatus(await patch(`/queue_tickets/${canceled.id}`, canceled.visitor, { action: 'cancel' }), 200);
  const operator = await makeAvailableOperator(server, own);
  await acceptOffer(server, operator);
  await enqueue(server, own, queue);
  const from = new Date(Date.now() - 60_000).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  const path = `GET /queues/${queue}/stats?from=${from}&to=${to}&service_level_sec=60`;
  const stats = expectStatus(await call(server, path, { token: own.admin }), 200).body;
  assert.deepEqual(
    [stats.arrivals, stats.waiting, stats.engaged, stats.abandoned, stats.within_service_level],
    [3, 1, 1, 1, 0.5],
  );
  assert.ok(stats.average_wait_sec > 0 && stats.longest_wait_sec === stats.average_wait_sec);
  const none = await call(server, `GET /queues/${queue}/stats?from=${from}&to=${from}`, { token: own.admin });
  assert.deepEqual([none.body.arrivals, none.body.average_wait_sec, none.body.within_service_level], [0, null, null]);
  const { body: line } = await call(server, `GET /queues/${queue}/tickets`, { token: own.admin });
  assert.deepEqual(
    line.queue_tickets.map(({ position }: Json) => position),
    [1],
  );
  const visitor = await makeVisitor(server, own);
  const wait = await call(server, 'GET /engagements/queue/wait_duration', { token: visitor.token });
  assert.ok(Math.abs(wait.body.average_duration_in_seconds - stats.average_wait_sec) < 0.001);
});
