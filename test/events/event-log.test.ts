import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { acknowledge, end, engage, sendText } from '../support/people/chat.ts';
import { authenticate, addProvider } from '../support/people/authentication.ts';
import { forThisFile } from '../support/fixture.ts';
import { TestOpenid } from '../support/services/openid.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeOperator,
  makeSite,
  makeVisitor,
  signIn,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs) * dayMs;

async function read(token: string, query = ''): Promise<Json> {
  return expectStatus(await call(server, `GET /events${query}`, { token }), 200).body;
}

/** Reads all pages of the query. */
async function readAll(token: string, query = '?per_page=1000'): Promise<{ events: Json[]; pages: Json[][] }> {
  const pages: Json[][] = [];
  for (let path: string | null = `/events${query}`; path !== null;) {
    const { body } = expectStatus(await call(server, `GET ${path}`, { token }), 200);
    pages.push(body.events);
    assert.ok(pages.length < 500, 'the pages do not end');
    path = body.next_page === null ? null : body.next_page.slice(server.url.length);
  }
  return { events: pages.flat(), pages };
}

const types = (events: readonly Json[]): string[] => events.map(({ type }) => type);
const ids = (events: readonly Json[]): string[] => events.map(({ id }) => id);

async function accountOf({ adminId }: TestAccount): Promise<string> {
  const [row] = await server.database.sql`SELECT account_id FROM operators WHERE id = ${adminId}`;
  return row?.['account_id'];
}

interface EventToWrite {
  readonly at: Date;
  readonly type?: string;
  readonly siteId?: string | null;
  readonly engagementId?: string;
}

/** Writes events to the log in one transaction, in this order; returns their ids. */
async function write(own: TestAccount, events: readonly EventToWrite[]): Promise<string[]> {
  const rows = events.map(({ at, type = 'engagement.event', siteId = own.siteId, engagementId = null }) => ({
    id: randomUUID(),
    type,
    site_id: siteId,
    engagement_id: engagementId,
    occurred_at: at,
  }));
  await server.database.sql`
    INSERT INTO events (account_id, id, type, site_id, engagement_id, occurred_at, payload)
    SELECT ${await accountOf(own)}, id, type, site_id, engagement_id, occurred_at, json_build_object('event_id', id)
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json)
           AS e (id uuid, type text, site_id uuid, engagement_id uuid, occurred_at timestamptz)`;
  return rows.map(({ id }) => id);
}

async function makeDays(...days: number[]): Promise<void> {
  for (const day of days)
    await server.database
      .sql`SELECT make_day('events', 'occurred_at', ${new Date(day).toISOString().slice(0, 10)}::date)`;
}

test('events are listed newest first, as they were stored, without items of the live feed', async () => {
  const chat = await engage(server, {}, {});
  const message = await sendText(chat, chat.visitor, 'Hello');
  expectStatus(await acknowledge(chat, chat.operator, message), 200);
  const upgrade = await call(server, `POST /engagements/${chat.id}/media_upgrade_requests`, {
    token: chat.operator.token,
    body: { audio: 'two_way', video: null },
  });
  const path = `/engagements/${chat.id}/media_upgrade_requests/${expectStatus(upgrade, 201).body.id}`;
  const declined = { token: chat.visitor.token, body: { action: 'decline' } };
  expectStatus(await call(server, `PATCH ${path}`, declined), 200);
  await end(chat);

  const stored = await server.database.sql`
    SELECT id, type, occurred_at, site_id, engagement_id, visitor_id, operator_id, payload
      FROM events WHERE account_id = ${await accountOf(chat.own)} ORDER BY occurred_at DESC, seq DESC`;
  assert.ok(stored.some(({ type }) => type === 'media_upgrade_request.state'));
  const { events, next_page } = await read(chat.own.admin);
  assert.equal(next_page, null);
  const expected: Json[] = stored
    .filter(({ type }) => type !== 'media_upgrade_request.state')
    .map(({ payload, ...row }) => ({ ...row, occurred_at: row['occurred_at'].toISOString(), event: payload }));
  assert.deepEqual(events, expected);
  assert.deepEqual(types(events).slice(-3), [
    'engagement.chat.message_status',
    'engagement.chat.message',
    'engagement.start',
  ]);
  assert.equal(events[0].type, 'engagement.end');
  const [newest] = events;
  assert.deepEqual(
    [newest.engagement_id, newest.visitor_id, newest.operator_id, newest.site_id, newest.event.event_id],
    [chat.id, chat.visitor.id, chat.operator.id, chat.own.siteId, newest.id],
  );
});

test('events are filtered by type in either spelling, by engagement, visitor and sites', async () => {
  const chat = await engage(server);
  const message = await sendText(chat, chat.visitor, 'Hello');
  expectStatus(await acknowledge(chat, chat.operator, message), 200);
  const { admin, siteId } = chat.own;
  const another = await makeSite(server, chat.own);
  await write(chat.own, [{ at: new Date(), siteId: another }]);
  const listed = async (query: string): Promise<string[]> => types((await read(admin, query)).events);
  const status = 'engagement.chat.message_status';

  assert.deepEqual(await listed('?event_type=engagement.start'), ['engagement.start']);
  assert.deepEqual(await listed(`?event_type=${status}`), [status]);
  assert.deepEqual(await listed('?event_type=engagement.chat.message.status'), [status]);
  assert.deepEqual(await listed(`?event_type[]=engagement.start&event_type[]=${status}`), [status, 'engagement.start']);
  assert.deepEqual(await listed('?event_type=sip_domain.delete'), []);
  const own = [status, 'engagement.chat.message', 'engagement.start'];
  assert.deepEqual(await listed(`?engagement_id=${chat.id.toUpperCase()}`), own);
  assert.deepEqual(await listed(`?engagement_id=${randomUUID()}`), []);
  assert.deepEqual(await listed(`?visitor_id=${chat.visitor.id}`), own);
  assert.deepEqual(await listed(`?visitor_id=${chat.operator.id}`), []);
  assert.deepEqual(await listed(`?site_ids[]=${siteId}`), own);
  assert.deepEqual(await listed(`?site_ids[]=${another}`), ['engagement.event']);
  assert.deepEqual(await listed(`?site_ids[]=${another}&engagement_id=${chat.id}`), []);
});

test('a super_manager sees the events of their sites, and events without a site if they have all sites', async () => {
  const own = await makeAccount(server);
  const stranger = await makeAccount(server);
  const another = await makeSite(server, own);
  const at = new Date();
  const [here, there, nowhere] = await write(own, [{ at }, { at, siteId: another }, { at, siteId: null }]);
  const [strange] = await write(stranger, [{ at, siteId: null }]);
  const roles = async (...assignments: { site_id: string; role: string }[]): Promise<string> =>
    (await makeOperator(server, own, assignments)).token;
  const on = (site_id: string, role: string) => ({ site_id, role });
  const listed = async (token: string, query = ''): Promise<string[]> => ids((await read(token, query)).events);

  assert.deepEqual(await listed(own.admin), [nowhere, there, here]);
  assert.deepEqual(await listed(own.admin, `?site_ids[]=${own.siteId}&site_ids[]=${another}`), [there, here]);
  const everywhere = await roles(on(own.siteId, 'super_manager'), on(another, 'super_manager'));
  assert.deepEqual(await listed(everywhere), [nowhere, there, here]);
  const half = await roles(on(own.siteId, 'super_manager'), on(another, 'manager'));
  assert.deepEqual(await listed(half), [here]);
  assert.deepEqual(await listed(await roles(on(another, 'super_manager'))), [there]);
  assert.deepEqual(await listed(stranger.admin), [strange]);
  // A token for one site shows only that site, whatever roles its operator has.
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: own.key.id, api_key_secret: own.key.secret, site_ids: [own.siteId] },
  });
  assert.deepEqual(await listed(expectStatus(limited, 200).body.token), [here]);
  // A new site on which this operator has no role.
  const third = await makeSite(server, own);
  assert.deepEqual(await listed(everywhere), [there, here]);
  assert.deepEqual(await listed(own.admin), [nowhere, there, here]);

  const refused = async (token: string, query: string, status: number): Promise<void> =>
    void expectStatus(await call(server, `GET /events${query}`, { token }), status);
  await refused(await roles(on(own.siteId, 'manager')), '', 403);
  await refused(half, `?site_ids[]=${another}`, 403);
  await refused(half, `?site_ids[]=${own.siteId}&site_ids[]=${third}`, 404);
  await refused(stranger.admin, `?site_ids[]=${own.siteId}`, 404);
});

test('an invalid query is refused, and a forged cursor gives an empty page', async () => {
  const { admin } = await makeAccount(server);
  const cursor = (text: string): string => `cursor=${Buffer.from(text).toString('base64url')}`;
  const wrong = [
    'event_type=media_upgrade_request.state',
    'event_type=nonsense',
    'event_type[]=',
    'since=yesterday',
    'since=0000-01-01T00:00:00Z',
    'from=0000-01-01T00:00:00Z',
    'since=2027-01-01T00:00:00Z&from=2027-01-01T00:00:00Z',
    'until=2027-01-01T00:00:00Z&to=2027-01-01T00:00:00Z',
    'until=2027-13-01T00:00:00Z',
    'engagement_id=1',
    'visitor_id=x',
    'site_ids[]=x',
    'per_page=0',
    'per_page=1001',
    'cursor=x',
    cursor('20000 18446744073709551616 1'),
    cursor('20000 1 9223372036854775808'),
    cursor('9999999'),
    cursor('20000 1'),
    cursor("20000 1 1'; --"),
  ];
  for (const query of wrong) {
    const { status, body } = await call(server, `GET /events?${query}`, { token: admin });
    assert.equal(status, 422, query);
    assert.equal(body.details[0].attribute.split('/')[1], query.split(/[[=]/)[0]);
  }
  for (const query of [
    cursor('0'),
    cursor('20000'),
    cursor('20000 18446744073709551615 9223372036854775807'),
    cursor('2932896 0 0'),
    'since=9999-12-31T23:59:59Z',
    'until=0001-01-01T00:00:00Z',
    'since=2027-01-02T00:00:00Z&until=2027-01-01T00:00:00Z',
    'from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z',
  ])
    assert.deepEqual(await read(admin, `?${query}`), { events: [], next_page: null }, query);
});

test('each page continues where the last one ended, across days and despite new events', async () => {
  const own = await makeAccount(server);
  await makeDays(today - dayMs, today - 3 * dayMs);
  const written: string[] = [];
  // The day before yesterday has no partition of its own.
  for (const day of [3, 2, 1, 0])
    for (const minute of [1, 2, 3])
      written.push(
        ...(await write(own, [
          { at: new Date(today - day * dayMs + minute * 60_000) },
          { at: new Date(today - day * dayMs + minute * 60_000) },
        ])),
      );
  const newestFirst = written.toReversed();
  assert.deepEqual(ids((await readAll(own.admin)).events), newestFirst);
  for (const perPage of [1, 5, 6, 24]) {
    const { events, pages } = await readAll(own.admin, `?per_page=${perPage}`);
    assert.deepEqual(ids(events), newestFirst, `${perPage}`);
    assert.equal(pages.length, Math.ceil(written.length / perPage));
  }
  const first = await read(own.admin, '?per_page=7');
  const late = await write(own, [{ at: new Date(today + 4 * 60_000) }]);
  const path = first.next_page.slice(server.url.length).replace('per_page=7', 'per_page=100');
  const rest = expectStatus(await call(server, `GET ${path}`, { token: own.admin }), 200).body;
  assert.deepEqual([...ids(first.events), ...ids(rest.events)], newestFirst);
  assert.deepEqual(ids((await read(own.admin, '?per_page=1')).events), late);
});

test('events older than the retention are not listed', async () => {
  await using brief = await startTestServer({ eventRetentionDays: 2 }, server.database.address);
  const own = await makeAccount(server);
  const [, kept, newest] = await write(own, [
    { at: new Date(today - 3 * dayMs) },
    { at: new Date(today - 2 * dayMs) },
    { at: new Date() },
  ]);
  const token = await signIn(brief, own.key);
  const { body } = expectStatus(await call(brief, 'GET /events?since=2020-01-01T00:00:00Z', { token }), 200);
  assert.deepEqual([ids(body.events), body.next_page], [[newest, kept], null]);
});

test('in a large log each page scans a limited number of events, and a time range is found by search', async () => {
  const own = await makeAccount(server);
  const account = await accountOf(own);
  const { sql } = server.database;
  const day = today - 5 * dayMs;
  await makeDays(day);
  // 88 transactions, a quarter of an hour apart, of 600 events each that happened up to a minute before or after.
  for (let turn = 0; turn < 88; turn += 1)
    await sql`
      INSERT INTO events (account_id, id, type, site_id, occurred_at, payload)
      SELECT ${account}, gen_random_uuid(), CASE WHEN ${turn} % 40 = 3 AND n = 7 THEN 'engagement.end' ELSE 'engagement.event' END,
             ${own.siteId}, ${new Date(day + (turn + 4) * 900_000)}::timestamptz + (random() - 0.5) * interval '2 minutes', '{}'
        FROM generate_series(1, 600) AS n`;
  const rare = await readAll(own.admin, '?event_type=engagement.end');
  assert.equal(rare.events.length, 3);
  assert.ok(rare.pages.length >= 3 && rare.pages.length <= 4, `${rare.pages.length} pages`);
  assert.equal(new Set(ids(rare.events)).size, 3);

  const at = (hours: number): string => new Date(day + hours * 3_600_000).toISOString();
  for (const [since, until] of [
    [at(10), at(11)],
    [at(10.25), at(10.2501)],
    [at(0), at(1.01)],
    [at(22.7), at(30)],
    [at(-9), at(0.9)],
  ] as const) {
    const stored = await sql<{ id: string }[]>`
      SELECT id FROM events WHERE account_id = ${account} AND occurred_at >= ${since} AND occurred_at < ${until}`;
    const { events, pages } = await readAll(own.admin, `?per_page=1000&from=${since}&to=${until}`);
    assert.deepEqual(new Set(ids(events)), new Set(stored.map(({ id }) => id)), `${since} to ${until}`);
    assert.equal(events.length, stored.length);
    // A scan from the end of the day would give empty pages.
    assert.equal(pages.length, Math.max(1, Math.ceil(stored.length / 1000)));
    for (const page of pages)
      assert.deepEqual(
        page.map(({ occurred_at }) => occurred_at),
        page.map(({ occurred_at }) => occurred_at).toSorted((a: string, b: string) => (a < b ? 1 : -1)),
      );
  }
});

test('D9 the log does not show the secrets of an event', async () => {
  const own = await makeAccount(server);
  const openid = await new TestOpenid().start();
  try {
    const provider = await addProvider(server, own, openid);
    const visitor = await makeVisitor(server, own);
    const body = { provider_id: provider, id_token: await openid.idToken({ name: 'Ada' }) };
    assert.equal(await authenticate(server, visitor, body), 'succeeded');
    const { events } = await read(own.admin, '?event_type=visitor.authentication.success');
    assert.equal(events.length, 1);
    const response = events[0].event.authentication_response;
    assert.deepEqual([response.access_token, response.id_token, response.name], ['', null, 'Ada']);
  } finally {
    await openid.stop();
  }
});
