import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, until, type Answer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeTeam,
  offersOf,
  setPresence,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

/** Statistics for workforce management, as existing clients request them. */
interface World {
  readonly own: TestAccount;
  readonly otherSite: string;
  readonly team: string;
  readonly queue: string;
  readonly operator: TestOperator;
  /** Manager of the first site, operator of the second. */
  readonly manager: TestOperator;
}

const { server, account: own } = await openWorld();
const otherSite = await makeSite(server, own);
const team = await makeTeam(server, own, own.siteId);
const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
const roles = [{ site_id: own.siteId, role: 'operator', team_ids: [team] }];
const operator = await makeOperator(server, own, roles);
const manager = await makeOperator(server, own, [
  { site_id: own.siteId, role: 'manager' },
  { site_id: otherSite, role: 'operator' },
]);
const world = { own, otherSite, team, queue, operator, manager };
// One visitor is engaged from the queue and one gives up.
await setPresence(server, operator);
await enqueue(server, own, queue);
await until(async () => (await offersOf(server, operator)).length > 0);
const engagement = await acceptOffer(server, operator);
const waiting = await enqueue(server, own, queue);
const cancel = { token: waiting.visitor.token, body: { action: 'cancel' } };
expectStatus(await call(server, `PATCH /queue_tickets/${waiting.id}`, cancel), 200);
const end = { token: operator.token, body: { action: 'end' } };
expectStatus(await call(server, `PATCH /engagements/${engagement}`, end), 200);
await setPresence(server, operator, { available: false, reason: 'Lunch' });
// Inserts intervals of two hours ago, because everything that this test did so far may have taken less than a second.
await server.database.sql`
  INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, ended_at)
  SELECT account_id, id, kept.engaged, kept.available, '{text,video}', kept.reason, ${[own.siteId]}::uuid[], ${[team]}::uuid[],
         now() - interval '2 hours' + kept.minute * interval '1 minute', now() - interval '2 hours' + (kept.minute + 10) * interval '1 minute'
    FROM operators,
         (VALUES (0, true, false, NULL), (10, false, true, NULL), (20, false, false, 'Lunch'), (30, false, false, 'engaged'),
                 (40, false, false, 'chat'), (50, false, false, '')) AS kept (minute, engaged, available, reason)
   WHERE id = ${operator.id}`;
await server.database.sql`
  INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
  SELECT account_id, id, false, true, '{text}', ${[own.siteId]}::uuid[], '{NULL}', '2020-01-31T04:00:00Z', '2020-02-01T00:00:00Z'
    FROM operators WHERE id = ${operator.id}`;

const today = (): string => {
  const day = 86_400_000;
  const [from, to] = [Date.now() - day, Date.now() + day].map((at) => new Date(at).toISOString());
  return `query_type=group_by&granularity=all&start_date=${from}&end_date=${to}`;
};
const rangeOf = (): { start_date: string; end_date: string } => {
  const [from = '', to = ''] = today().split('&').slice(2).map((part) => part.split('=')[1]); // prettier-ignore
  return { start_date: from, end_date: to };
};

interface Line {
  /** What the interface says. */
  readonly says: string;
  readonly request: (world: World) => string;
  readonly token?: (world: World) => string;
  readonly body?: (world: World) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expect: (answer: Answer, world: World) => void;
}

const rows = (answer: Answer): Json[] => expectStatus(answer, 200).body;
const attributes = (answer: Answer): string[] =>
  expectStatus(answer, 422).body.details.map(({ attribute }: Json) => attribute);
const duration = '/engagements/stats/duration';
const waits = '/engagements/stats/queue/wait_duration';
const online = '/operators/stats/online_duration';

const lines: readonly Line[] = [
  {
    says: 'GET /engagements/stats/duration returns one object per group and step',
    request: () => `GET ${duration}?${today()}`,
    expect: (answer) => {
      const [row = {}, ...others] = rows(answer);
      assert.deepEqual(others, []);
      const fields = ['timestamp', 'seconds', 'count', 'average_duration_in_seconds', 'total_duration_in_seconds'];
      assert.deepEqual(Object.keys(row), fields);
      assert.equal(row.count, 1);
      assert.equal(row.seconds, row.total_duration_in_seconds);
    },
  },
  {
    says: 'POST accepts parameters in the query string, with indexed dimensions',
    request: () =>
      `POST ${duration}?${today()}&dimensions[0]=operator_id&dimensions[1]=type&dimensions[2]=media&dimensions[3]=end_reason&dimensions[4]=queue_id&dimensions[5]=team_id&dimensions[6]=site_id&dimensions[7]=highest_operator_media&dimensions[8]=user_type`,
    expect: (answer, { own, operator, queue, team }) => {
      const [{ timestamp: _at, seconds: _sec, average_duration_in_seconds: _avg, total_duration_in_seconds: _sum, ...row }] = rows(answer); // prettier-ignore
      assert.deepEqual(row, {
        site_id: own.siteId, queue_id: queue, operator_id: operator.id, team_id: team, type: 'reactive',
        end_reason: 'operator_hung_up', media: 'chat', highest_operator_media: 'chat', user_type: 'operator', count: 1,
      }); // prettier-ignore
    },
  },
  {
    says: 'POST accepts a JSON body of the same shape',
    request: () => `POST ${duration}`,
    body: () => ({ query_type: 'group_by', dimensions: ['type'], granularity: 'day', ...rangeOf() }),
    expect: (answer) => assert.deepEqual(rows(answer).map(({ type, count }) => [type, count]), [['reactive', 1]]), // prettier-ignore
  },
  {
    says: 'filters work in bracket notation: and, selector, in, not, an empty value for a missing dimension',
    request: ({ own, queue }) =>
      `GET ${duration}?${today()}&filter[type]=and&filter[fields][0][type]=selector&filter[fields][0][dimension]=site_id&filter[fields][0][value]=${own.siteId}&filter[fields][1][type]=in&filter[fields][1][dimension]=queue_id&filter[fields][1][values][]=${queue}&filter[fields][2][type]=not&filter[fields][2][field][type]=selector&filter[fields][2][field][dimension]=queue_id&filter[fields][2][field][value]=`,
    expect: (answer) => assert.equal(rows(answer)[0].count, 1),
  },
  {
    says: 'lists in brackets work without an index',
    request: ({ own }) =>
      `GET ${duration}?${today()}&dimensions[]=type&filter[type]=or&filter[fields][][type]=selector&filter[fields][][dimension]=site_id&filter[fields][][value]=${own.siteId}&filter[fields][][type]=selector&filter[fields][][dimension]=type&filter[fields][][value]=proactive`,
    expect: (answer) => assert.equal(rows(answer)[0].count, 1),
  },
  {
    says: 'empty groups are left out',
    request: () => `POST ${duration}`,
    body: () => ({ ...rangeOf(), filter: { type: 'selector', dimension: 'type', value: 'proactive' } }),
    expect: (answer) => assert.deepEqual(rows(answer), []),
  },
  {
    says: 'engagements that began outside of the half-open range do not count',
    request: () => `GET ${duration}?start_date=2020-01-01&end_date=2020-12-31T00:00:00%2B02:00`,
    expect: (answer) => assert.deepEqual(rows(answer), []),
  },
  {
    says: '/engagements/stats/post_engagement_duration returns no rows, because there is no wrap-up',
    request: () => `POST /engagements/stats/post_engagement_duration?${today()}&dimensions[]=operator_id`,
    expect: (answer) => assert.deepEqual(rows(answer), []),
  },
  {
    says: '/engagements/stats/queue/wait_duration groups visits by outcome, with the fields of waits',
    request: () => `POST ${waits}`,
    body: () => ({ ...rangeOf(), dimensions: ['outcome'] }),
    expect: (answer) => {
      const found = rows(answer);
      assert.deepEqual(Object.keys(found[0]), [
        'timestamp', 'seconds', 'outcome', 'count', 'average_duration_in_seconds', 'total_duration_in_seconds',
        'maximum_duration_in_seconds', 'short_duration_count', 'within_service_level_count',
      ]); // prettier-ignore
      const figures = found.map((row) => [row.outcome, row.count, row.short_duration_count, row.within_service_level_count]); // prettier-ignore
      assert.deepEqual(figures, [
        ['abandoned', 1, 1, 0],
        ['engaged', 1, 1, 1],
      ]);
    },
  },
  {
    says: '/operators/stats/online_duration groups the time of operators by state, without extra fields',
    request: () => `POST ${online}?${today()}&dimensions[]=type&dimensions[]=user_type`,
    body: ({ operator }) => ({ filter: { type: 'selector', dimension: 'operator_id', value: operator.id } }),
    expect: (answer) => {
      const found = rows(answer);
      for (const row of found) {
        assert.deepEqual(Object.keys(row), ['timestamp', 'seconds', 'type', 'user_type']);
        assert.equal(row.user_type, 'operator');
        assert.ok(row.seconds >= 600);
      }
      assert.deepEqual(new Set(found.map(({ type }) => type)), new Set(['Lunch', 'away', 'engaged', 'video']));
      assert.equal(found.length, 4);
    },
  },
  {
    says: 'an away reason that equals the name of a state counts as away',
    request: () => `POST ${online}`,
    body: ({ operator }) => ({
      start_date: new Date(Date.now() - 7_200_000).toISOString(),
      end_date: new Date(Date.now() - 3_600_000).toISOString(),
      dimensions: ['type'],
      filter: {
        type: 'and',
        fields: [
          { type: 'selector', dimension: 'operator_id', value: operator.id },
          { type: 'in', dimension: 'type', values: ['away', 'chat'] },
        ],
      },
    }),
    expect: (answer) => {
      const [{ type, seconds }, ...others] = rows(answer);
      assert.deepEqual([type, others], ['away', []]);
      // Three intervals of ten minutes, less the time that the earlier tests took.
      assert.ok(seconds > 1_500 && seconds <= 1_800, `${seconds}`);
    },
  },
  {
    says: 'POST /reporting/live/queue/average_wait_time returns {total}',
    request: () => 'POST /reporting/live/queue/average_wait_time',
    expect: (answer) => {
      assert.deepEqual(Object.keys(expectStatus(answer, 200).body), ['total']);
      assert.ok(answer.body.total > 0 && answer.body.total < 60);
    },
  },
  {
    says: 'the average wait time of a site where nobody has waited is 0',
    request: ({ otherSite }) => `POST /reporting/live/queue/average_wait_time?site_ids[]=${otherSite}`,
    expect: (answer) => assert.deepEqual(expectStatus(answer, 200).body, { total: 0 }),
  },
  {
    says: 'Accept: text/csv gives CSV',
    request: () => `GET ${waits}?${today()}&dimensions[]=outcome`,
    headers: { accept: 'text/csv' },
    expect: (answer) => {
      assert.match(expectStatus(answer, 200).headers.get('content-type') ?? '', /^text\/csv; charset=utf-8$/);
      const [head, ...cells] = answer.body.split('\r\n');
      assert.equal(
        head,
        'timestamp,seconds,outcome,count,average_duration_in_seconds,total_duration_in_seconds,maximum_duration_in_seconds,short_duration_count,within_service_level_count',
      );
      assert.equal(cells.length, 3);
      assert.match(cells[0], /^\d{4}-\d\d-\d\dT[\d:.]+Z,\d+,abandoned,1,/);
    },
  },
  {
    says: 'an unknown dimension gives 422 with a pointer',
    request: () => `GET ${online}?${today()}&dimensions[]=site_id&dimensions[]=colour`,
    expect: (answer) => assert.deepEqual(attributes(answer), ['/dimensions/1']),
  },
  {
    says: 'unknown filter types and dimensions give 422 with all pointers together',
    request: () => `POST ${online}`,
    body: () => ({ filter: { type: 'and', fields: [{ type: 'like' }, { type: 'selector', dimension: 'x', value: '' }] } }), // prettier-ignore
    expect: (answer) =>
      assert.deepEqual(attributes(answer).toSorted(), ['/end_date', '/filter/fields/0/type', '/filter/fields/1/dimension', '/start_date']), // prettier-ignore
  },
  {
    says: 'an unknown field, query type or granularity gives 422',
    request: () => `POST ${online}`,
    body: () => ({ ...rangeOf(), query_type: 'topn', granularity: 'week', colour: 'red' }),
    expect: (answer) => assert.deepEqual(attributes(answer).toSorted(), ['/colour', '/granularity', '/query_type']),
  },
  {
    says: 'a range that is too long gives 422',
    request: () => `GET ${online}?start_date=2026-01-01&end_date=2027-06-01`,
    expect: (answer) => assert.deepEqual(attributes(answer), ['/end_date']),
  },
  {
    says: 'invalid dates give 422',
    request: () => `GET ${online}?start_date=2026-02-30&end_date=yesterday`,
    expect: (answer) => assert.deepEqual(attributes(answer), ['/start_date', '/end_date']),
  },
  {
    says: 'dates with a time that do not exist give 422',
    request: () => `GET ${online}?start_date=2026-02-30T09:00:00Z&end_date=2026-02-30T09:00:00`,
    expect: (answer) => assert.deepEqual(attributes(answer), ['/start_date', '/end_date']),
  },
  {
    says: 'a date and time without an offset is in the requested time zone, like a date',
    request: () => `GET ${online}?start_date=2020-01-31T09:30:00&end_date=2020-01-31T11:00&time_zone=Asia/Kolkata&granularity=all`, // prettier-ignore
    expect: (answer) => assert.deepEqual(rows(answer).map((row) => [row.timestamp, row.seconds]), [['2020-01-31T04:00:00.000Z', 5_400]]), // prettier-ignore
  },
  {
    says: 'Vary names Accept next to the Origin of CORS',
    request: () => `GET ${duration}?${today()}`,
    headers: { origin: 'https://shop.example' },
    expect: (answer) => assert.equal(expectStatus(answer, 200).headers.get('vary'), 'Accept, Origin'),
  },
  {
    says: 'a parameter in the body overrides the one in the query string',
    request: () => `POST ${duration}?${today()}`,
    body: () => ({ start_date: '2020-01-01', end_date: '2020-01-02' }),
    expect: (answer) => assert.deepEqual(rows(answer), []),
  },
  {
    says: 'an unknown time zone gives 422',
    request: () => `GET ${online}?start_date=2026-01-01&end_date=2026-12-31&time_zone=Mars/Olympus`,
    expect: (answer) => assert.deepEqual(attributes(answer), ['/time_zone']),
  },
  {
    says: 'a site on which the caller is only an operator gives 403',
    request: ({ otherSite }) => `GET ${duration}?${today()}&filter[type]=selector&filter[dimension]=site_id&filter[value]=${otherSite}`, // prettier-ignore
    token: ({ manager }) => manager.token,
    expect: (answer) => expectStatus(answer, 403),
  },
  {
    says: 'a site that the caller has no role on gives 404',
    request: ({ own }) => `GET ${duration}?${today()}&filter[type]=selector&filter[dimension]=site_id&filter[value]=${own.adminId}`, // prettier-ignore
    expect: (answer) => expectStatus(answer, 404),
  },
  {
    says: 'a caller who is manager nowhere gets 403',
    request: () => `GET ${duration}?${today()}`,
    token: ({ operator }) => operator.token,
    expect: (answer) => expectStatus(answer, 403),
  },
  {
    says: 'without a site filter, only the sites that the caller manages are counted',
    request: () => `GET ${online}?${today()}&dimensions[]=site_id`,
    token: ({ manager }) => manager.token,
    expect: (answer, { own }) => {
      const sites = rows(answer).map(({ site_id }) => site_id);
      assert.deepEqual(sites, [own.siteId]);
    },
  },
];

for (const { says, request, token, body, headers, expect } of lines)
  test(`2.12 ${says}`, async () => {
    const answer = await call(server, request(world), {
      token: token?.(world) ?? world.own.admin,
      ...(body === undefined ? {} : { body: body(world) }),
      ...(headers === undefined ? {} : { headers }),
    });
    expect(answer, world);
  });

test('2.12 presence intervals record when an operator was available and why they were away', async () => {
  const operator = await makeAvailableOperator(server, world.own, { media: ['text', 'audio'] });
  const intervals = async (): Promise<Json[]> => {
    const range = `site_ids[]=${world.own.siteId}&operator_ids[]=${operator.id}&from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date(Date.now() + 3_600_000).toISOString()}`; // prettier-ignore
    const answer = await call(server, `GET /operators/presence_intervals?${range}`, { token: world.own.admin });
    return expectStatus(answer, 200).body.presence_intervals;
  };
  const [open = {}] = await intervals();
  assert.deepEqual(
    { ...open, started_at: typeof open.started_at },
    { operator_id: operator.id, type: 'audio', media: ['text', 'audio'], reason: null, started_at: 'string', ended_at: null }, // prettier-ignore
  );
  await until(async () => Date.now() > Date.parse(open.started_at));
  await setPresence(server, operator, { available: false, reason: 'Lunch' });
  const [previous, current] = await intervals();
  assert.deepEqual(
    [previous?.type, current?.type, current?.reason, current?.ended_at],
    ['audio', 'Lunch', 'Lunch', null],
  );
  assert.equal(previous?.ended_at, current?.started_at);
});
