import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { Dice, writeHistory, type Fact, type History } from '../support/people/statistics-history.ts';
import { durations, onlineTime, type ReferenceQuery } from '../support/people/statistics-reference.ts';
import { expectStatus, makeAccount, makeOperator } from '../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const histories = isLong ? 10 : 1;
const queries = isLong ? 200 : 60;

const server = await forThisFile(startTestServer());

const dimensions = 'site_id queue_id operator_id team_id type end_reason media highest_operator_media outcome destination_queue_id user_type'.split(' '); // prettier-ignore
const zones = ['UTC', 'Europe/Tallinn', 'Asia/Kathmandu', 'America/St_Johns', 'Africa/Cairo', 'Antarctica/Troll'];
const granularities = ['all', 'fifteen_minute', 'thirty_minute', 'hour', 'day'];

const statistics = {
  '/engagements/stats/duration': (history: History, query: ReferenceQuery) =>
    durations(history.engagements, query, false),
  '/engagements/stats/queue/wait_duration': (history: History, query: ReferenceQuery) =>
    durations(history.visits, query, true),
  '/operators/stats/online_duration': (history: History, query: ReferenceQuery) => onlineTime(history.presence, query),
};
type Path = keyof typeof statistics;
const paths = Object.keys(statistics) as Path[];

function valuesOf(history: History, name: string): readonly string[] {
  const ids: Readonly<Record<string, readonly string[]>> = {
    site_id: history.siteIds,
    queue_id: history.queueIds,
    destination_queue_id: history.queueIds,
    operator_id: history.operatorIds,
    team_id: history.teamIds,
  };
  const words = 'reactive proactive engaged away Lunch video audio chat phone transferred abandoned fallback operator visitor_hung_up'; // prettier-ignore
  return ['', ...(ids[name] ?? words.split(' '))];
}

function randomFilter(dice: Dice, history: History, depth: number): Json {
  const kind = dice.int(depth === 0 ? 2 : 5);
  if (kind === 2) return { type: 'not', field: randomFilter(dice, history, depth - 1) };
  if (kind > 2) {
    const fields = Array.from({ length: 1 + dice.int(3) }, () => randomFilter(dice, history, depth - 1));
    return { type: kind === 3 ? 'and' : 'or', fields };
  }
  const dimension = dice.one(dimensions);
  const values = valuesOf(history, dimension);
  if (kind === 0) return { type: 'selector', dimension, value: dice.one(values) };
  const some = dice.some(values);
  return { type: 'in', dimension, values: some.length === 0 ? [values[0]] : some };
}

function randomQuery(dice: Dice, history: History, siteIds: readonly string[]): ReferenceQuery {
  const span = history.to - history.from;
  const from = history.from + dice.int(span);
  return {
    dimensions: dice.one([[], dice.some(dimensions).slice(0, 4), [dice.one(dimensions)]]),
    granularity: dice.one(granularities),
    from,
    to: from + dice.int(history.to - from),
    filter: dice.int(3) === 0 ? undefined : randomFilter(dice, history, 2),
    timeZone: dice.one(zones),
    siteIds,
  };
}

/** Nested query parameters in brackets, as some existing clients write them. */
function bracketed(name: string, value: Json): string[] {
  if (typeof value !== 'object') return [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => bracketed(`${name}[${key}]`, inner));
}

async function ask(path: Path, query: ReferenceQuery, token: string, by: 'query' | 'body'): Promise<Json[]> {
  const given = {
    query_type: 'group_by',
    dimensions: query.dimensions,
    granularity: query.granularity,
    start_date: new Date(query.from).toISOString(),
    end_date: new Date(query.to).toISOString(),
    time_zone: query.timeZone,
    ...(query.filter === undefined ? {} : { filter: query.filter }),
  };
  const queryString = Object.entries(given).flatMap(([name, value]) => bracketed(name, value)).join('&'); // prettier-ignore
  const answer =
    by === 'body'
      ? await call(server, `POST ${path}`, { token, body: given })
      : await call(server, `GET ${path}?${queryString}`, { token });
  return expectStatus(answer, 200).body;
}

/** Sorts rows independently of the database's collation. */
function sorted(rows: readonly Json[]): Json[] {
  const withKeys = rows.map((row) => Object.fromEntries(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))));
  return withKeys.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

for (let round = 0; round < histories; round += 1) {
  const seed = isLong ? Math.floor(Math.random() * 2 ** 32) : 20_260_329;
  test(`random queries about a random history are answered like a simple reference (seed ${seed})`, async () => {
    const dice = new Dice(seed);
    const own = await makeAccount(server);
    const history = await writeHistory(server, own, dice);
    const oneSite = await makeOperator(server, own, [
      { site_id: own.siteId, role: 'manager' },
      { site_id: history.siteIds[1] ?? '', role: 'operator' },
    ]);
    let rows = 0;
    for (let count = 0; count < queries; count += 1) {
      const isAdmin = dice.int(3) > 0;
      const query = randomQuery(dice, history, isAdmin ? history.siteIds : [own.siteId]);
      // Only managers of a site may name it; another test covers the refusal.
      if (!isAdmin && JSON.stringify(query.filter ?? '').includes(history.siteIds[1] ?? '')) continue;
      const path = dice.one(paths);
      const token = isAdmin ? own.admin : oneSite.token;
      const found = await ask(path, query, token, dice.maybe() ? 'query' : 'body');
      const expected = statistics[path](history, query);
      assert.deepEqual(sorted(found), sorted(expected), `query ${count}: ${path} ${JSON.stringify(query)}`);
      rows += found.length;
    }
    console.log(`${queries} queries, ${rows} rows, all equal to the reference`);
    assert.ok(rows > queries);
  });
}

test('D13.2 steps of any size and in any zone add up to the whole range', async () => {
  const dice = new Dice(7);
  const own = await makeAccount(server);
  const history = await writeHistory(server, own, dice);
  const sums = (rows: readonly Json[]): number => rows.reduce((sum, { seconds }) => sum + seconds, 0);
  const inRange = (facts: readonly Fact[]) => facts.length > 0;
  assert.ok([history.engagements, history.visits, history.presence].every(inRange));
  for (const path of paths) {
    const query = { dimensions: ['operator_id', 'type'], from: history.from + 1_234_567, to: history.to - 7_654_321, filter: undefined, siteIds: history.siteIds }; // prettier-ignore
    const whole = sums(await ask(path, { ...query, granularity: 'all', timeZone: 'UTC' }, own.admin, 'body'));
    assert.ok(whole > 0);
    for (const granularity of granularities)
      for (const timeZone of ['Europe/Tallinn', 'America/St_Johns'])
        assert.equal(sums(await ask(path, { ...query, granularity, timeZone }, own.admin, 'body')), whole);
  }
});

test('an operator who was online throughout has 23 hours on the day clocks go forward, and 25 on the day they go back', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  await server.database.sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
    SELECT account_id, id, false, true, '{text}', ${[own.siteId]}::uuid[], '{NULL}'::uuid[], '2026-03-01', '2026-11-01'
      FROM operators WHERE id = ${operator.id}`;
  const site = { token: own.admin, body: { time_zone: 'Europe/Tallinn' } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const hours = async (start: string, end: string, zone = ''): Promise<[string, number][]> => {
    const range = `granularity=day&start_date=${start}&end_date=${end}${zone}`;
    const answer = await call(server, `GET /operators/stats/online_duration?${range}`, { token: own.admin });
    return expectStatus(answer, 200).body.map(({ timestamp, seconds }: Json) => [timestamp, seconds / 3_600]);
  };
  // The zone of the only site applies; dates begin at its midnight.
  assert.deepEqual(await hours('2026-03-28', '2026-03-31'), [
    ['2026-03-27T22:00:00.000Z', 24],
    ['2026-03-28T22:00:00.000Z', 23],
    ['2026-03-29T21:00:00.000Z', 24],
  ]);
  assert.deepEqual(await hours('2026-10-25', '2026-10-26'), [['2026-10-24T21:00:00.000Z', 25]]);
  assert.deepEqual(await hours('2026-10-25', '2026-10-26', '&time_zone=UTC'), [['2026-10-25T00:00:00.000Z', 24]]);
});

test('a statistic with more than 100,000 rows is refused with 422 and advice', async () => {
  const own = await makeAccount(server);
  await server.database.sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, ended_at)
    SELECT account_id, id, false, false, '{text}', 'Reason ' || number, ${[own.siteId]}::uuid[], '{NULL}'::uuid[], '2025-01-01', '2026-01-01'
      FROM operators, generate_series(1, 3) AS number
     WHERE id = ${own.adminId}`;
  const body = {
    granularity: 'fifteen_minute',
    dimensions: ['type'],
    start_date: '2025-01-01',
    end_date: '2026-01-01',
  };
  const path = 'POST /operators/stats/online_duration';
  const [violation] = expectStatus(await call(server, path, { token: own.admin, body }), 422).body.details;
  assert.match(violation.detail, /more than 100000 rows\. Use a shorter range, longer steps or fewer dimensions$/);
  const hourly = await call(server, path, { token: own.admin, body: { ...body, granularity: 'hour' } });
  assert.equal(expectStatus(hourly, 200).body.length, 3 * 365 * 24);
});
