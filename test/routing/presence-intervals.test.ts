import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import {
  summarize,
  intervalsOf,
  nextInstant,
  intervalSummaries,
  type StoredInterval,
} from '../support/people/presence.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeTeam,
  offersOf,
  setPresence,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

/** Each interval begins when the previous one ended, and none is negative. */
function assertSeamless(kept: readonly StoredInterval[]): void {
  for (const [index, { started_at, ended_at }] of kept.entries()) {
    assert.ok(ended_at === null || ended_at > started_at);
    if (index > 0) assert.deepEqual(kept[index - 1]?.ended_at, started_at);
  }
}

async function engage(reached: ServerHandle, own: TestAccount, operator: TestOperator): Promise<string> {
  const queue = await makeQueue(reached, own, { when_unstaffed: 'accept' });
  await enqueue(reached, own, queue);
  await until(async () => (await offersOf(reached, operator)).length > 0);
  await nextInstant();
  return acceptOffer(reached, operator);
}

const endEngagement = async (operator: TestOperator, engagement: string): Promise<void> => {
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token: operator.token, body }), 200);
};

test('each change of availability, media, engagement or reason begins a new interval', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  assert.equal((await intervalsOf(server, operator.id)).length, 0);
  await setPresence(server, operator, { media: ['text'] });
  // Clients renew their presence by repeating it, which is no change.
  await nextInstant();
  await setPresence(server, operator, { media: ['text'], expires_in_sec: 3_600 });
  await nextInstant();
  await setPresence(server, operator, { media: ['text', 'audio'] });
  const first = await engage(server, own, operator);
  await nextInstant();
  await endEngagement(operator, first);
  await nextInstant();
  await setPresence(server, operator, { available: false, reason: 'Lunch' });
  await nextInstant();
  await setPresence(server, operator, { available: false });
  const kept = await intervalsOf(server, operator.id);
  assert.deepEqual(kept.map(summarize), ['text', 'text+audio', 'engaged', 'text+audio', 'Lunch', 'away…']);
  assertSeamless(kept);
  assert.ok(kept.every(({ site_ids, team_ids }) => site_ids[0] === own.siteId && team_ids.length === 1));
});

test('an operator with several chats has one engaged interval, from the first start to the last end', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const body = { max_engagement_count: 3 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  await setPresence(server, operator);
  const chats = [await engage(server, own, operator), await engage(server, own, operator)];
  for (const chat of chats) {
    await nextInstant();
    await endEngagement(operator, chat);
  }
  const media = 'text+phone+audio+video';
  assert.deepEqual(await intervalSummaries(server, operator.id), [media, 'engaged', `${media}…`]);
});

test('D13.1 a transfer ends the engaged interval of one operator and begins that of the other at the same instant', async () => {
  const own = await makeAccount(server);
  const one = await makeAvailableOperator(server, own);
  const engagement = await engage(server, own, one);
  const other = await makeAvailableOperator(server, own);
  const body = { engagement_id: engagement, operator_id: other.id };
  const requested = expectStatus(await call(server, 'POST /transfer_requests', { token: one.token, body }), 201).body;
  await nextInstant();
  const accept = { token: other.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${requested.id}`, accept), 200);
  const [before, after] = [await intervalsOf(server, one.id), await intervalsOf(server, other.id)];
  assert.deepEqual(before.at(-2)?.ended_at, after.at(-1)?.started_at);
  assert.deepEqual([before.at(-1)?.engaged, after.at(-1)?.engaged], [false, true]);
  await endEngagement(other, engagement);
  const day = 86_400_000;
  const range = { start_date: new Date(Date.now() - day).toISOString(), end_date: new Date(Date.now() + day).toISOString() }; // prettier-ignore
  const stats = await call(server, 'POST /engagements/stats/duration', {
    token: own.admin,
    body: { ...range, dimensions: ['operator_id', 'end_reason', 'media'] },
  });
  const legs = expectStatus(stats, 200).body.map((row: Json) => [
    row.operator_id,
    row.end_reason,
    row.media,
    row.count,
  ]);
  assert.deepEqual(
    new Set(legs.map((leg: Json) => JSON.stringify(leg))),
    new Set([
      JSON.stringify([one.id, 'transferred', 'chat', 1]),
      JSON.stringify([other.id, 'operator_hung_up', 'chat', 1]),
    ]),
  );
});

test('D4.11 an operator who missed an offer is away with the reason missed_call', async () => {
  const own = await makeAccount(server);
  const site = { token: own.admin, body: { reactive_call_timeout: 1 } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const operator = await makeAvailableOperator(server, own);
  await enqueue(server, own, await makeQueue(server, own));
  await until(async () => (await intervalSummaries(server, operator.id)).at(-1) === 'missed_call…');
  assertSeamless(await intervalsOf(server, operator.id));
});

test('disabling an operator, or changing their sites or teams, begins a new interval at once', async () => {
  const own = await makeAccount(server);
  const other = await makeSite(server, own);
  const team = await makeTeam(server, own, own.siteId);
  const operator = await makeOperator(server, own, [
    { site_id: own.siteId, role: 'operator' },
    { site_id: other, role: 'operator' },
  ]);
  await setPresence(server, operator, { media: ['text'] });
  const patch = async (body: unknown): Promise<void> => {
    await nextInstant();
    expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  };
  // Repeating the assignments is no change.
  await patch({ assignments: [own.siteId, other].map((site_id) => ({ site_id, role: 'operator' })) });
  assert.equal((await intervalsOf(server, operator.id)).length, 1);
  await patch({ assignments: [{ site_id: own.siteId, role: 'operator', team_ids: [team] }] });
  await patch({ available: false });
  await patch({ enabled: false });
  const kept = await intervalsOf(server, operator.id);
  assert.deepEqual(kept.map(summarize), ['text', 'text', 'away']);
  assert.deepEqual(new Set(kept[0]?.site_ids), new Set([own.siteId, other]));
  assert.deepEqual([kept[1]?.site_ids, kept[1]?.team_ids], [[own.siteId], [team]]);
  assertSeamless(kept);
  await patch({ enabled: true });
  assert.equal(
    (await intervalsOf(server, operator.id)).length,
    3,
    'who is enabled again has not said that they are back',
  );
});

test('a manager of one site does not see the time that an operator worked for another', async () => {
  const own = await makeAccount(server);
  const other = await makeSite(server, own);
  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const stranger = await makeOperator(server, own, [{ site_id: other, role: 'operator' }]);
  await setPresence(server, stranger);
  const from = new Date(Date.now() - 60_000).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  const intervals = `GET /operators/presence_intervals?from=${from}&to=${to}&site_ids[]=`;
  const mine = await call(server, `${intervals}${own.siteId}`, { token: manager.token });
  assert.deepEqual(expectStatus(mine, 200).body.presence_intervals, []);
  expectStatus(await call(server, `${intervals}${other}`, { token: manager.token }), 404);
  expectStatus(await call(server, `${intervals}${other}`, { token: own.admin }), 200);
});

test('intervals are read by page', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  for (const reason of ['a', 'b', 'c', 'd']) {
    await nextInstant();
    await setPresence(server, operator, { available: false, reason });
  }
  const range = `from=${new Date(Date.now() - 60_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
  const found: string[] = [];
  let path: string | null = `/operators/presence_intervals?site_ids[]=${own.siteId}&per_page=2&${range}`;
  while (path !== null) {
    const page: Json = expectStatus(await call(server, `GET ${path}`, { token: own.admin }), 200).body;
    assert.ok(page.presence_intervals.length <= 2);
    found.push(...page.presence_intervals.map(({ type }: Json) => type));
    path = page.next_page === null ? null : page.next_page.slice(server.url.length);
  }
  assert.deepEqual(found, ['video', 'a', 'b', 'c', 'd']);
});
