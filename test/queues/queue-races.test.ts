import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type TestServer } from '../support/server.ts';
import {
  requestTicket,
  expectStatus,
  makePolicy,
  makeQueue,
  makeTeam,
  makeVisitor,
  queueFields,
} from '../support/world.ts';

/** Two processes on one database, and pairs of requests that must not both succeed. */
const rounds = 15;

const { server: first, account } = await openWorld();
const second = await forThisFile(startTestServer({}, first.database.address));
const servers = [first, second] as const;

async function put(server: TestServer, queue: string, fields: object): Promise<Answer> {
  return call(server, `PUT /queues/${queue}`, { token: account.admin, body: { ...queueFields, ...fields } });
}

async function statuses(requests: readonly Promise<Answer>[]): Promise<number[]> {
  return (await Promise.all(requests)).map((answer) => answer.status).toSorted((a, b) => a - b);
}

test('fallback cycles of any length are refused with their path', async () => {
  const [server] = servers;
  const queues: string[] = [];
  for (let length = 0; length < 6; length += 1) queues.push(await makeQueue(server, account));
  const at = (index: number): string => queues[index] ?? '';
  for (let index = 0; index < 5; index += 1)
    expectStatus(await put(server, at(index), { fallback_queue_id: at(index + 1) }), 200);
  const self = expectStatus(await put(server, at(5), { fallback_queue_id: at(5) }), 409);
  assert.deepEqual(path(self), [at(5), at(5)]);
  const before = (await call(server, `GET /queues/${at(5)}`, { token: account.admin })).body;
  const whole = expectStatus(await put(server, at(5), { fallback_queue_id: at(0) }), 409);
  assert.equal(whole.body.error, 'fallback_cycle');
  assert.deepEqual(path(whole), [at(5), ...queues]);
  const part = expectStatus(await put(server, at(4), { fallback_queue_id: at(2) }), 409);
  assert.deepEqual(path(part), [at(4), at(2), at(3), at(4)]);
  assert.deepEqual((await call(server, `GET /queues/${at(5)}`, { token: account.admin })).body, before);
});

function path(answer: Answer): string[] {
  return answer.body.details.map((entry: { detail: string }) => entry.detail);
}

test('of two concurrent changes that would form a cycle one succeeds and the other is refused with the path', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const [a, b, c] = [await makeQueue(one, account), await makeQueue(one, account), await makeQueue(one, account)];
    expectStatus(await put(one, c, { fallback_queue_id: a }), 200);
    assert.deepEqual(
      await statuses([put(one, a, { fallback_queue_id: b }), put(two, b, { fallback_queue_id: c })]),
      [200, 409],
    );
  }
});

test('three concurrent changes never leave a cycle', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const [a, b, c] = [await makeQueue(one, account), await makeQueue(one, account), await makeQueue(one, account)];
    const answers = await statuses([
      put(one, a, { fallback_queue_id: b }),
      put(two, b, { fallback_queue_id: c }),
      put(one, c, { fallback_queue_id: a }),
    ]);
    assert.deepEqual(answers, [200, 200, 409]);
  }
});

test('when a queue is deleted while it becomes a fallback, one of the two is refused', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const [a, b] = [await makeQueue(one, account), await makeQueue(one, account)];
    const found = await statuses([
      put(one, a, { fallback_queue_id: b }),
      call(two, `DELETE /queues/${b}`, { token: account.admin }),
    ]);
    assert.ok(['200,409', '204,422'].includes(found.join()), found.join());
  }
});

test('when a queue is deleted while a channel is connected to it, one of the two is refused', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const queue = await makeQueue(one, account);
    const body = { site_id: account.siteId, number: `+3725${10_000 + round}`, queue_id: queue };
    const found = await statuses([
      call(one, 'POST /phone_channels', { token: account.admin, body }),
      call(two, `DELETE /queues/${queue}`, { token: account.admin }),
    ]);
    assert.ok(['201,409', '204,422'].includes(found.join()), found.join());
  }
});

test('when a policy is deleted while a queue starts to use it, one of the two is refused', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const [queue, policy] = [await makeQueue(one, account), await makePolicy(one, account)];
    const found = await statuses([
      put(one, queue, { scheduling_policy_id: policy }),
      call(two, `DELETE /queues/scheduling_policies/${policy}`, { token: account.admin }),
    ]);
    assert.ok(['200,409', '204,422'].includes(found.join()), found.join());
  }
});

test('when a team is deleted while a queue starts to use it, one of the two is refused', async () => {
  const [one, two] = servers;
  for (let round = 0; round < rounds; round += 1) {
    const [queue, team] = [await makeQueue(one, account), await makeTeam(one, account, account.siteId)];
    const found = await statuses([
      put(one, queue, { routing_policy: { team_ids: [team] } }),
      call(two, `DELETE /teams/${team}`, { token: account.admin }),
    ]);
    assert.ok(['200,409', '204,422'].includes(found.join()), found.join());
  }
});

test('when a queue is deleted while a visitor enters it, only one of the two succeeds', async () => {
  const [one, two] = servers;
  const visitor = await makeVisitor(one, account);
  for (let round = 0; round < rounds; round += 1) {
    const queue = await makeQueue(one, account, { when_unstaffed: 'accept' });
    const [entered, deleted] = await Promise.all([
      requestTicket(one, account, { queue_ids: [queue] }, visitor),
      call(two, `DELETE /queues/${queue}`, { token: account.admin }),
    ]);
    assert.ok(['201,409', '422,204'].includes([entered.status, deleted.status].join()), JSON.stringify(entered.body));
    if (entered.status !== 201) continue;
    assert.equal(deleted.body.error, 'queue_not_empty');
    const body = { action: 'cancel' };
    expectStatus(await call(two, `PATCH /queue_tickets/${entered.body.id}`, { token: visitor.token, body }), 200);
    expectStatus(await call(two, `DELETE /queues/${queue}`, { token: account.admin }), 204);
  }
});

test('two concurrent changes of ranks are each applied as a whole', async () => {
  const [one, two] = servers;
  const queue = await makeQueue(one, account);
  const operators: string[] = [];
  for (let made = 0; made < 4; made += 1) {
    const body = { name: 'R', email: `r${made}@test`, assignments: [{ site_id: account.siteId }] };
    operators.push(expectStatus(await call(one, 'POST /operators', { token: account.admin, body }), 201).body.id);
  }
  const give = async (server: TestServer, rank: number) =>
    call(server, `PATCH /queues/${queue}/rankings`, {
      token: account.admin,
      body: { operators: operators.map((id) => ({ id, rank })) },
    });
  for (let round = 0; round < rounds; round += 1) {
    for (const answer of await Promise.all([give(one, 1), give(two, 2)])) expectStatus(answer, 200);
    const { body } = await call(one, `GET /queues/${queue}/rankings`, { token: account.admin });
    assert.equal(new Set(body.operators.map(({ rank }: { rank: number }) => rank)).size, 1);
  }
});
