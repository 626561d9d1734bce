import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  eventsOf,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  offersOf,
  setPresence,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

async function patch(path: string, who: { token: string }, body: Json) {
  return call(server, `PATCH ${path}`, { token: who.token, body });
}

async function engage(own: TestAccount, queue: string, operator: TestOperator) {
  const { visitor } = await enqueue(server, own, queue);
  return { visitor, engagement: await acceptOffer(server, operator) };
}

test('D5.4 with a transfer to an operator, the first operator stays until the second accepts', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const first = await makeAvailableOperator(server, own);
  const { visitor, engagement } = await engage(own, queue, first);
  const second = await makeAvailableOperator(server, own);
  const transfer = async (operator_id: string, who: { token: string } = first) =>
    call(server, 'POST /transfer_requests', {
      token: who.token,
      body: { engagement_id: engagement, operator_id, message: 'Hi' },
    });

  const self = expectStatus(await transfer(first.id), 422).body;
  assert.deepEqual(self.details[0].attribute, '/operator_id');
  const absent = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  assert.equal(expectStatus(await transfer(absent.id), 409).body.error, 'operator_unavailable');
  assert.equal((await transfer(absent.id, second)).status, 403);
  const requested = expectStatus(await transfer(second.id), 201).body;
  assert.deepEqual([requested.state, requested.message, requested.engagement_id], ['pending', 'Hi', engagement]);
  assert.equal(expectStatus(await transfer(second.id), 409).body.error, 'transfer_pending');
  const operatorNow = async (): Promise<string> =>
    (await call(server, `GET /engagements/${engagement}`, { token: visitor.token })).body.operator_id;
  assert.equal(await operatorNow(), first.id);
  expectStatus(await patch(`/transfer_requests/${requested.id}`, second, { action: 'decline' }), 200);
  assert.equal(await operatorNow(), first.id);

  const again = expectStatus(await transfer(second.id), 201).body;
  const { body: list } = await call(server, 'GET /transfer_requests?state=pending', { token: second.token });
  assert.deepEqual(
    list.transfer_requests.map(({ id }: Json) => id),
    [again.id],
  );
  assert.equal((await patch(`/transfer_requests/${again.id}`, first, { action: 'accept' })).status, 403);
  expectStatus(await patch(`/transfer_requests/${again.id}`, second, { action: 'accept' }), 200);
  expectStatus(await patch(`/transfer_requests/${again.id}`, second, { action: 'accept' }), 200);
  const { body: now } = await call(server, `GET /engagements/${engagement}`, { token: visitor.token });
  assert.deepEqual(
    now.sub_engagements.map(({ operator_id }: Json) => operator_id),
    [first.id, second.id],
  );
  assert.equal((await patch(`/engagements/${engagement}`, first, { action: 'end' })).status, 403);
  expectStatus(await patch(`/engagements/${engagement}`, second, { action: 'end', reason: 'error' }), 200);
  const events = await eventsOf(server, own);
  assert.deepEqual(
    events.map(({ event_type }) => event_type),
    ['engagement.start', 'engagement.transfer', 'engagement.end'],
  );
  assert.deepEqual(events[1].engagement, {
    id: engagement,
    engagement_request_id: now.engagement_request_id,
    transfer_request_id: again.id,
    visitor_id: visitor.id,
    previous_sub_engagement: { id: now.sub_engagements[0].id, operator_id: first.id, site_id: own.siteId },
    current_sub_engagement: { id: now.sub_engagements[1].id, operator_id: second.id, site_id: own.siteId },
  });
  assert.equal(events[2].engagement.end_reason, 'error');
  assert.equal(expectStatus(await transfer(first.id, second), 409).body.error, 'engagement_ended');
});

test('D5.4 a transfer to a queue that does not admit the visitor says why', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const { engagement } = await engage(own, await makeQueue(server, own), operator);
  const refusalBy = async (queue_id: string): Promise<string> => {
    const body = { engagement_id: engagement, queue_id, media: 'text' };
    const answer = await call(server, 'POST /transfer_tickets', { token: operator.token, body });
    return expectStatus(answer, 409).body.error;
  };
  const full = { when_unstaffed: 'accept', capacity_policy: { type: 'fixed', capacity: 0 } };
  assert.equal(await refusalBy(await makeQueue(server, own, full)), 'queue_full');
  assert.equal(
    await refusalBy(await makeQueue(server, own, { routing_policy: { media: ['video'] } })),
    'no_matching_queue',
  );
  await setPresence(server, operator, { available: false });
  assert.equal(await refusalBy(await makeQueue(server, own)), 'queue_unstaffed');
  const open = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const body = { engagement_id: engagement, queue_id: open, media: 'text' };
  expectStatus(await call(server, 'POST /transfer_tickets', { token: operator.token, body }), 201);
  assert.equal(await refusalBy(open), 'transfer_pending');
});

test('D5.4 an engagement is transferred to a queue, also on another site', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const otherSite = await makeSite(server, own);
  const far = await makeQueue(server, own, { site_id: otherSite, when_unstaffed: 'accept' });
  const first = await makeOperator(
    server,
    own,
    [own.siteId, otherSite].map((site_id) => ({ site_id, role: 'operator' })),
  );
  await setPresence(server, first);
  const { engagement, visitor } = await engage(own, queue, first);
  const hand = async (body: Json = {}) =>
    call(server, 'POST /transfer_tickets', {
      token: first.token,
      body: { engagement_id: engagement, queue_id: far, media: 'text', ...body },
    });
  const canceled = expectStatus(await hand(), 201).body;
  assert.deepEqual([canceled.state, canceled.engagement_id, canceled.queue_ids], ['waiting', engagement, [far]]);
  expectStatus(await patch(`/transfer_tickets/${canceled.id}`, first, { action: 'cancel' }), 200);
  const ticket = expectStatus(await hand(), 201).body;
  const second = await makeOperator(server, own, [{ site_id: otherSite, role: 'operator' }]);
  await setPresence(server, second);
  const { body } = await call(server, 'GET /transfer_requests?state=pending', { token: second.token });
  const [offer] = body.transfer_requests;
  assert.equal(offer.transfer_ticket_id, ticket.id);
  expectStatus(await patch(`/transfer_requests/${offer.id}`, second, { action: 'accept' }), 200);
  const { body: now } = await call(server, `GET /engagements/${engagement}`, { token: visitor.token });
  assert.deepEqual([now.operator_id, now.site_id, now.state], [second.id, otherSite, 'active']);
  assert.equal((await eventsOf(server, own)).at(-1).engagement.transfer_request_id, offer.id);
});

test('engagements are listed by cursor: managers see all, others their own', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const [one, two] = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)];
  const made: string[] = [];
  for (const operator of [one, two, one]) {
    const { visitor } = await enqueue(server, own, queue);
    const offers = [...(await offersOf(server, one)), ...(await offersOf(server, two))];
    const taker = offers[0].operator_id === one.id ? one : two;
    const engagement = await acceptOffer(server, taker);
    made.unshift(engagement);
    if (operator === one) expectStatus(await patch(`/engagements/${engagement}`, visitor, { action: 'end' }), 200);
  }
  const list = async (token: string, more = ''): Promise<Json> =>
    expectStatus(await call(server, `GET /engagements?site_ids[]=${own.siteId}${more}`, { token }), 200).body;
  const all = await list(own.admin);
  assert.deepEqual(
    all.engagements.map(({ id }: Json) => id),
    made,
  );
  const page = await list(own.admin, '&per_page=2');
  assert.deepEqual(
    page.engagements.map(({ id }: Json) => id),
    made.slice(0, 2),
  );
  const rest = await call(server, `GET ${page.next_page.slice(server.url.length)}`, { token: own.admin });
  assert.deepEqual([rest.body.engagements.map(({ id }: Json) => id), rest.body.next_page], [made.slice(2), null]);
  const mine = await list(one.token);
  assert.ok(mine.engagements.length < 3 && mine.engagements.every(({ operator_id }: Json) => operator_id === one.id));
  const active = await list(own.admin, '&state=active');
  assert.ok(active.engagements.every(({ ended_at }: Json) => ended_at === null));
  expectStatus(
    await call(server, `GET /engagements?site_ids[]=${own.siteId}&cursor=nonsense`, { token: own.admin }),
    422,
  );
});
