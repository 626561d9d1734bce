import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dropOldIntervals } from '../packages/server/src/routing/presence/intervals-store.ts';
import { moveTimes } from '../packages/server/src/routing/move-times.ts';
import type { AccountId } from '../packages/server/src/platform/ids.ts';
import { startCluster } from './support/cluster.ts';
import { openFeed } from './support/feed.ts';
import { call, startTestServer, until, type Json, type TestServer } from './support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePresent,
  makeQueue,
  makeSite,
  makeTeam,
  offersOf,
  present,
  type Reached,
  type TestAccount,
  type TestOperator,
} from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(async () => server[Symbol.asyncDispose]());

interface Kept {
  readonly engaged: boolean;
  readonly available: boolean;
  readonly media: string[];
  readonly reason: string | null;
  readonly site_ids: string[];
  readonly team_ids: (string | null)[];
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The rows themselves; those that lasted no time are left out. */
async function keptOf({ database }: Reached, id: string): Promise<Kept[]> {
  return database.sql<Kept[]>`
    SELECT engaged, available, media, reason, site_ids, team_ids, started_at, ended_at
      FROM presence_intervals
     WHERE operator_id = ${id} AND ended_at IS DISTINCT FROM started_at
     ORDER BY started_at, id`;
}

/** In short: what the operator did, and whether it goes on. */
const inShort = ({ engaged, available, media, reason, ended_at }: Kept): string =>
  [engaged ? 'engaged' : available ? media.join('+') : (reason ?? 'away'), ended_at === null ? '…' : ''].join('');

async function shortOf(reached: Reached, id: string): Promise<string[]> {
  return (await keptOf(reached, id)).map(inShort);
}

/** Each interval begins where the one before it ended, and none is negative. */
function assertSeamless(kept: readonly Kept[]): void {
  for (const [index, { started_at, ended_at }] of kept.entries()) {
    assert.ok(ended_at === null || ended_at > started_at);
    if (index > 0) assert.deepEqual(kept[index - 1]?.ended_at, started_at);
  }
}

/** Intervals that begin within the same millisecond are none: waits until the clock shows another. */
async function nextInstant(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() > now + 1);
}

async function engage(reached: Reached, own: TestAccount, operator: TestOperator): Promise<string> {
  const queue = await makeQueue(reached, own, { when_unstaffed: 'accept' });
  await enqueue(reached, own, queue);
  await until(async () => (await offersOf(reached, operator)).length > 0);
  await nextInstant();
  return acceptOffer(reached, operator);
}

const endIt = async (operator: TestOperator, engagement: string): Promise<void> => {
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token: operator.token, body }), 200);
};

test('availability, media, engagements and reasons are kept from change to change', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  assert.equal((await keptOf(server, operator.id)).length, 0);
  await present(server, operator, { media: ['text'] });
  // The same again, as clients do that renew their presence, is no change.
  await nextInstant();
  await present(server, operator, { media: ['text'], expires_in_sec: 3_600 });
  await nextInstant();
  await present(server, operator, { media: ['text', 'audio'] });
  const first = await engage(server, own, operator);
  await nextInstant();
  await endIt(operator, first);
  await nextInstant();
  await present(server, operator, { available: false, reason: 'Lunch' });
  await nextInstant();
  await present(server, operator, { available: false });
  const kept = await keptOf(server, operator.id);
  assert.deepEqual(kept.map(inShort), ['text', 'text+audio', 'engaged', 'text+audio', 'Lunch', 'away…']);
  assertSeamless(kept);
  assert.ok(kept.every(({ site_ids, team_ids }) => site_ids[0] === own.siteId && team_ids.length === 1));
});

test('an operator with several chats is engaged once, from the first to the end of the last', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const body = { max_engagement_count: 3 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  await present(server, operator);
  const chats = [await engage(server, own, operator), await engage(server, own, operator)];
  for (const chat of chats) {
    await nextInstant();
    await endIt(operator, chat);
  }
  const media = 'text+phone+audio+video';
  assert.deepEqual(await shortOf(server, operator.id), [media, 'engaged', `${media}…`]);
});

test('a transfer ends the time of one operator and begins that of the other at the same instant', async () => {
  const own = await makeAccount(server);
  const one = await makePresent(server, own);
  const engagement = await engage(server, own, one);
  const other = await makePresent(server, own);
  const body = { engagement_id: engagement, operator_id: other.id };
  const asked = expectStatus(await call(server, 'POST /transfer_requests', { token: one.token, body }), 201).body;
  await nextInstant();
  const accept = { token: other.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${asked.id}`, accept), 200);
  const [before, after] = [await keptOf(server, one.id), await keptOf(server, other.id)];
  assert.deepEqual(before.at(-2)?.ended_at, after.at(-1)?.started_at);
  assert.deepEqual([before.at(-1)?.engaged, after.at(-1)?.engaged], [false, true]);
  await endIt(other, engagement);
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

test('a lease that ends by time ends the interval at the lease’s end, for those who are away too', async () => {
  const own = await makeAccount(server);
  const available = await makePresent(server, own, { expires_in_sec: 1 });
  const away = await makePresent(server, own, { available: false, reason: 'Lunch', expires_in_sec: 1 });
  const leases = new Map<string, Date>();
  for (const { id } of [available, away]) {
    const { body } = await call(server, `GET /operators/${id}`, { token: own.admin });
    leases.set(id, new Date(body.presence_expires_at));
  }
  for (const { id } of [available, away]) {
    await until(async () => (await keptOf(server, id)).at(-1)?.ended_at !== null);
    assert.deepEqual((await keptOf(server, id)).at(-1)?.ended_at, leases.get(id));
  }
  // Back again: the time between is nobody's.
  await present(server, available);
  const [first, second, ...others] = await keptOf(server, available.id);
  assert.deepEqual(others, []);
  assert.ok((first?.ended_at ?? Infinity) < (second?.started_at ?? 0));
});

test('an operator who missed an offer is away for that reason from then on', async () => {
  const own = await makeAccount(server);
  const site = { token: own.admin, body: { reactive_call_timeout: 1 } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const operator = await makePresent(server, own);
  await enqueue(server, own, await makeQueue(server, own));
  await until(async () => (await shortOf(server, operator.id)).at(-1) === 'missed_call…');
  assertSeamless(await keptOf(server, operator.id));
});

/** Seconds of the last and the next hour by type, as the statistic has them. */
async function timeOf(own: TestAccount, operatorId: string): Promise<Record<string, number>> {
  const hour = 3_600_000;
  const answer = await call(server, 'POST /operators/stats/online_duration', {
    token: own.admin,
    body: {
      start_date: new Date(Date.now() - hour).toISOString(),
      end_date: new Date(Date.now() + hour).toISOString(),
      dimensions: ['type'],
      filter: { type: 'selector', dimension: 'operator_id', value: operatorId },
    },
  });
  return Object.fromEntries(expectStatus(answer, 200).body.map(({ type, seconds }: Json) => [type, seconds]));
}

test('an operator who missed an offer at an open console stays online: the feed renews the lease', async () => {
  const own = await makeAccount(server);
  const site = { token: own.admin, body: { reactive_call_timeout: 1 } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const operator = await makePresent(server, own, { expires_in_sec: 5 });
  const read = async (): Promise<Json> =>
    expectStatus(await call(server, `GET /operators/${operator.id}`, { token: own.admin }), 200).body;
  await using _console = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  await enqueue(server, own, await makeQueue(server, own));
  await until(async () => (await read()).presence_reason === 'missed_call');
  const { presence_expires_at: lease } = await read();
  await until(async () => (await read()).presence_expires_at > lease, 20_000);
  const { available, presence_reason: reason } = await read();
  assert.deepEqual([available, reason], [false, 'missed_call']);
  assert.equal((await shortOf(server, operator.id)).at(-1), 'missed_call…');
  await until(async () => ((await timeOf(own, operator.id))['missed_call'] ?? 0) >= 1);
});

test('who says that they are away and closes the console is offline when the lease ends, and nobody hears of it', async () => {
  const own = await makeAccount(server);
  const operator = await makePresent(server, own, { expires_in_sec: 30 });
  await nextInstant();
  await present(server, operator, { available: false, reason: 'Lunch', expires_in_sec: 2 });
  const read = async (): Promise<Json> =>
    expectStatus(await call(server, `GET /operators/${operator.id}`, { token: own.admin }), 200).body;
  const before = await read();
  await using manager = await openFeed(server, { token: own.admin });
  await until(async () => (await keptOf(server, operator.id)).at(-1)?.ended_at !== null);
  assert.deepEqual(await read(), before);
  assert.equal((await timeOf(own, operator.id))['Lunch'], 2);
  // What comes later on the feed shows that nothing about the operator came before it.
  const other = await makePresent(server, own);
  await manager.until(({ type, data }) => type === 'operator.state' && data.id === other.id);
  assert.equal(manager.items.some(({ type, data }) => type === 'operator.state' && data.id === operator.id), false); // prettier-ignore
  // Back at the console, and still at lunch: online again, and still unavailable.
  await using _console = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  const { presence_expires_at: lease, ...rest } = await read();
  assert.deepEqual({ ...rest, presence_expires_at: before.presence_expires_at }, before);
  assert.ok(Date.parse(lease) > Date.now());
  assert.equal((await shortOf(server, operator.id)).at(-1), 'Lunch…');
});

test('another team is no sign of life: who is offline stays so', async () => {
  const own = await makeAccount(server);
  const team = await makeTeam(server, own, own.siteId);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const { sql } = server.database;
  // As a console of an earlier version has left them: away, without a lease, and in no interval.
  await sql`UPDATE operators SET available = false, presence_set_at = now() WHERE id = ${operator.id}`;
  await sql`DELETE FROM presence_intervals WHERE operator_id = ${operator.id}`;
  const body = { assignments: [{ site_id: own.siteId, role: 'operator', team_ids: [team] }] };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  assert.deepEqual(await shortOf(server, operator.id), []);
});

test('who is disabled, taken off a site or given another team is so from that very change on', async () => {
  const own = await makeAccount(server);
  const other = await makeSite(server, own);
  const team = await makeTeam(server, own, own.siteId);
  const operator = await makeOperator(server, own, [
    { site_id: own.siteId, role: 'operator' },
    { site_id: other, role: 'operator' },
  ]);
  await present(server, operator, { media: ['text'] });
  const patch = async (body: unknown): Promise<void> => {
    await nextInstant();
    expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  };
  // The same assignments again are no change.
  await patch({ assignments: [own.siteId, other].map((site_id) => ({ site_id, role: 'operator' })) });
  assert.equal((await keptOf(server, operator.id)).length, 1);
  await patch({ assignments: [{ site_id: own.siteId, role: 'operator', team_ids: [team] }] });
  await patch({ available: false });
  await patch({ enabled: false });
  const kept = await keptOf(server, operator.id);
  assert.deepEqual(kept.map(inShort), ['text', 'text', 'away']);
  assert.deepEqual(new Set(kept[0]?.site_ids), new Set([own.siteId, other]));
  assert.deepEqual([kept[1]?.site_ids, kept[1]?.team_ids], [[own.siteId], [team]]);
  assertSeamless(kept);
  await patch({ enabled: true });
  assert.equal((await keptOf(server, operator.id)).length, 3, 'who is enabled again has not said that they are back');
});

test('a manager of one site hears nothing of the time that somebody worked for another', async () => {
  const own = await makeAccount(server);
  const other = await makeSite(server, own);
  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const stranger = await makeOperator(server, own, [{ site_id: other, role: 'operator' }]);
  await present(server, stranger);
  const from = new Date(Date.now() - 60_000).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  const intervals = `GET /operators/presence_intervals?from=${from}&to=${to}&site_ids[]=`;
  const mine = await call(server, `${intervals}${own.siteId}`, { token: manager.token });
  assert.deepEqual(expectStatus(mine, 200).body.presence_intervals, []);
  expectStatus(await call(server, `${intervals}${other}`, { token: manager.token }), 404);
  expectStatus(await call(server, `${intervals}${other}`, { token: own.admin }), 200);
});

test('intervals are read page by page', async () => {
  const own = await makeAccount(server);
  const operator = await makePresent(server, own);
  for (const reason of ['a', 'b', 'c', 'd']) {
    await nextInstant();
    await present(server, operator, { available: false, reason });
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

test('when the clock is set back, what goes on keeps its length and nothing is negative', async () => {
  const own = await makeAccount(server);
  const operator = await makePresent(server, own, { expires_in_sec: 86_400 });
  await nextInstant();
  await present(server, operator, { available: false, reason: 'Lunch', expires_in_sec: 86_400 });
  const { sql } = server.database;
  const [account] = await sql<{ id: AccountId; version: number }[]>`
    SELECT a.id, a.board_version::float8 AS version
      FROM accounts a JOIN operators o ON o.account_id = a.id WHERE o.id = ${operator.id}`;
  assert.ok(account !== undefined);
  const [, before] = await keptOf(server, operator.id);
  const hour = 3_600_000;
  await moveTimes(sql, { accountId: account.id, byMs: -hour, shiftMs: 0, version: account.version + 1 });
  const moved = (await keptOf(server, operator.id)).find(({ ended_at }) => ended_at === null);
  assert.equal((before?.started_at.getTime() ?? 0) - (moved?.started_at.getTime() ?? 0), hour);
  // An interval that lies in the future, because its clock was another, ends where it began.
  await sql`UPDATE presence_intervals SET started_at = now() + interval '1 hour' WHERE operator_id = ${operator.id} AND ended_at IS NULL`;
  await present(server, operator);
  const [row] = await sql<{ negative: number; open: number }[]>`
    SELECT count(*) FILTER (WHERE ended_at < started_at)::integer AS negative, count(*) FILTER (WHERE ended_at IS NULL)::integer AS open
      FROM presence_intervals WHERE operator_id = ${operator.id}`;
  assert.deepEqual({ ...row }, { negative: 0, open: 1 });
});

interface Yesterday {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly accountId: AccountId;
  /** The operator takes this medium from then on; `null`: is away. */
  readonly take: (medium: string | null, at: string) => Promise<void>;
  /** Seconds by type, as the statistic has them. */
  readonly seconds: (from: string, to: string) => Promise<Record<string, number>>;
}

/** An operator whose yesterday is written as turns write it. Times are those of the day, in UTC. */
async function yesterday(): Promise<Yesterday> {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const { sql } = server.database;
  const [account] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM operators WHERE id = ${operator.id}`;
  assert.ok(account !== undefined);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const take = async (medium: string | null, at: string): Promise<void> => {
    await sql.begin(async (turn) => {
      await turn`SELECT set_config('usher.turn', 'on', true)`;
      await turn`
        UPDATE operators SET available = ${medium !== null}, media = ${[medium ?? 'text']}, presence_set_at = now()
         WHERE id = ${operator.id}`;
      const changed = JSON.stringify([{ operator_id: operator.id, engaged: false, lapsed_at: null }]);
      await turn`SELECT keep_presence(${`${day}T${at}Z`}, ${changed}::text::json)`;
    });
  };
  const seconds = async (from: string, to: string): Promise<Record<string, number>> => {
    const body = { start_date: `${day}T${from}Z`, end_date: `${day}T${to}Z`, dimensions: ['type'] };
    const answer = await call(server, 'POST /operators/stats/online_duration', { token: own.admin, body });
    return Object.fromEntries(expectStatus(answer, 200).body.map((row: Json) => [row.type, row.seconds]));
  };
  return { own, operator, accountId: account.id, take, seconds };
}

test('a change that was decided before the last one and written after it loses no time', async () => {
  const { take, seconds } = await yesterday();
  await take('text', '10:00:05');
  await take('audio', '10:00:00');
  await take(null, '11:00:00');
  assert.deepEqual(await seconds('10:30:00', '10:45:00'), { audio: 900 });
  assert.deepEqual(await seconds('09:00:00', '11:00:00'), { audio: 3_595 });
});

test('when the clock is set back, the time before and after is found by any range', async () => {
  const { take, seconds, own, operator, accountId } = await yesterday();
  await take('text', '09:30:00');
  await take('audio', '10:00:00');
  const { sql } = server.database;
  const [account] = await sql<{ version: number }[]>`
    SELECT board_version::float8 AS version FROM accounts WHERE id = ${accountId}`;
  await moveTimes(sql, { accountId, byMs: -3_600_000, shiftMs: 0, version: (account?.version ?? 0) + 1 });
  // What goes on began at nine by the new clock, before an interval that has ended.
  assert.deepEqual(await seconds('11:00:00', '11:30:00'), { audio: 1_800 });
  await take('video', '09:20:00');
  await take('audio', '09:50:00');
  await take(null, '13:00:00');
  assert.deepEqual(await seconds('09:05:00', '09:15:00'), { audio: 600 });
  assert.deepEqual(await seconds('09:40:00', '09:50:00'), { chat: 600, video: 600 });
  assert.deepEqual(await seconds('09:55:00', '10:05:00'), { chat: 300, audio: 600 });
  assert.deepEqual(await seconds('11:00:00', '11:30:00'), { audio: 1_800 });
  const whole = { chat: 1_800, video: 1_800, audio: 1_200 + 11_400 };
  assert.deepEqual(await seconds('08:00:00', '13:00:00'), whole);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const path = `GET /operators/presence_intervals?site_ids[]=${own.siteId}&operator_ids[]=${operator.id}&from=${day}T09:55:00Z&to=${day}T10:05:00Z`;
  const shown = expectStatus(await call(server, path, { token: own.admin }), 200).body.presence_intervals;
  assert.deepEqual(shown.map(({ type }: Json) => type), ['chat', 'audio']); // prettier-ignore
});

test('intervals are kept as long as events; what goes on stays', async () => {
  const own = await makeAccount(server);
  const operator = await makePresent(server, own);
  await nextInstant();
  await present(server, operator, { available: false });
  const { sql } = server.database;
  await sql`
    UPDATE presence_intervals SET started_at = started_at - interval '40 days', ended_at = ended_at - interval '40 days'
     WHERE operator_id = ${operator.id}`;
  await dropOldIntervals(sql, { now: new Date(), days: 41 });
  assert.deepEqual(await shortOf(server, operator.id), ['text+phone+audio+video', 'away…']);
  await dropOldIntervals(sql, { now: new Date(), days: 30 });
  assert.deepEqual(await shortOf(server, operator.id), ['away…']);
});

test('a process that is killed leaves no open end: the lease ends the interval, and the next process goes on', async () => {
  await using cluster = await startCluster(1);
  const [first = assert.fail()] = cluster.nodes;
  const reached = cluster.reach(first);
  const own = await makeAccount(reached);
  const leased = await makePresent(reached, own, { expires_in_sec: 2 });
  const lasting = await makePresent(reached, own, { media: ['text'] });
  const operator = expectStatus(await call(reached, `GET /operators/${leased.id}`, { token: own.admin }), 200).body;
  await first.stop('SIGKILL');
  const lease = new Date(operator.presence_expires_at);
  await until(() => Date.now() > lease.getTime() + 200);
  const second = cluster.reach(await cluster.start());
  const range = `from=${new Date(Date.now() - 60_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
  const path = `GET /operators/presence_intervals?site_ids[]=${own.siteId}&${range}`;
  const read = async (): Promise<Json[]> =>
    expectStatus(await call(second, path, { token: own.admin }), 200).body.presence_intervals;
  const ends = new Map((await read()).map(({ operator_id, ended_at }) => [operator_id, ended_at]));
  assert.deepEqual([ends.get(leased.id), ends.get(lasting.id)], [lease.toISOString(), null]);
  // Back after the crash: the end of the old interval is still the lease's.
  await present(second, leased);
  const kept = await keptOf(second, leased.id);
  assert.deepEqual(kept[0]?.ended_at, lease);
  assert.ok((kept[1]?.started_at ?? 0) > lease);
  assert.equal(kept.length, 2);
});
