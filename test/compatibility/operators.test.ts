import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNumber } from '../support/services/carrier.ts';
import { openCast } from '../support/api/cast.ts';
import { startFileEngagement } from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import {
  expectStatus,
  makeAccessToken,
  makeAccount,
  makeOperator,
  makeSite,
  makeVisitor,
  setPresence,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

/** What existing clients do with tokens, operators, visitors and aliases. */
interface World {
  /** An account with one site, whose administrator and `ann` are its operators; `ann` is available. */
  readonly own: TestAccount;
  readonly ann: TestOperator;
  /** A super_manager of two sites, and a token for the first of them only. */
  readonly two: TestAccount;
  readonly second: string;
  readonly limited: string;
  readonly visitor: { readonly id: string; readonly token: string };
  readonly longLived: { readonly id: string; readonly token: string };
  readonly engagement: { readonly id: string; readonly token: string };
}

const cast = await forThisFile(openCast());
const { server } = cast;
const own = await makeAccount(server);
const ann = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
const renamed = { name: 'Ann 100% Łódź', email: 'Ann_Smith@shop.example' };
expectStatus(await call(server, `PATCH /operators/${ann.id}`, { token: own.admin, body: renamed }), 200);
await setPresence(server, ann);
const two = await makeAccount(server);
const second = await makeSite(server, two);
const addresses = { addresses: ['https://Shop.example.com:8443/start', 'www.example.org/shop'] };
const origins = { allowed_origins: ['https://app.example.net'] };
expectStatus(await call(server, `PATCH /sites/${two.siteId}`, { token: two.admin, body: addresses }), 200);
expectStatus(await call(server, `PATCH /sites/${second}`, { token: two.admin, body: origins }), 200);
const credentials = { api_key_id: two.key.id, api_key_secret: two.key.secret, site_ids: [second] };
const limited = expectStatus(await call(server, 'POST /sites/tokens', { body: credentials }), 200).body.access_token;
const talk = await startFileEngagement(server);
const world = {
  own,
  ann,
  two,
  second,
  limited,
  visitor: await makeVisitor(server, own),
  longLived: await makeAccessToken(server, own, ann.id),
  engagement: { id: talk.engagement, token: talk.operator.token },
};

interface RequestOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Line = readonly [
  line: string,
  request: (world: World) => readonly [string, RequestOptions],
  /** The response may have more fields. */
  expected: (world: World) => { readonly status: number; readonly body?: Json },
];

const session = 'GET /operator_authentication/sessions/current';
const ids = (...operators: readonly { readonly id: string }[]): Json => ({
  operators: operators.map(({ id }) => ({ id })),
});
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const password = 'a lamp by the river';
const newOperator = { name: 'Bo', email: 'bo@shop.example', password, password_confirmation: password };
const sms = (site_id: string): Json => ({ site_id, from_number: newNumber(), to_number: newNumber(), message: 'Hi' });

const lines: readonly Line[] = [
  [
    '2.1 Authorization: Token is a synonym of Bearer for an operator’s token',
    ({ own }) => [session, { token: `Token ${own.admin}` }],
    ({ own }) => ({ status: 200, body: { operator_id: own.adminId } }),
  ],
  [
    '2.1 Authorization: token works in any case and for a visitor’s token',
    ({ own, visitor }) => [`GET /sites/${own.siteId}/visitors/${visitor.id}`, { token: `token ${visitor.token}` }],
    ({ visitor }) => ({ status: 200, body: { id: visitor.id } }),
  ],
  [
    '2.1 Authorization: Token works for the live feed',
    ({ own }) => ['GET /feed', { token: `Token ${own.admin}` }],
    () => ({ status: 200 }),
  ],
  [
    '2.1 an access token is created with a name',
    ({ own, ann }) => [`POST /operators/${ann.id}/access_tokens`, { token: own.admin, body: { name: 'Bot' } }],
    () => ({ status: 201, body: { name: 'Bot', expires_at: null, last_used_at: null } }),
  ],
  [
    '2.1 an access token is created with an expiry',
    ({ ann }) => [
      `POST /operators/${ann.id}/access_tokens`,
      { token: ann.token, body: { name: 'Bot', expires_at: '2099-01-01T00:00:00Z' } },
    ],
    () => ({ status: 201, body: { expires_at: '2099-01-01T00:00:00.000Z' } }),
  ],
  [
    '2.1 an access token works as Token and does not expire by default',
    ({ longLived }) => [session, { token: `Token ${longLived.token}` }],
    ({ own, ann }) => ({
      status: 200,
      body: { operator_id: ann.id, site_roles: { [own.siteId]: 'operator' }, expires_at: null, session_id: null },
    }),
  ],
  [
    '2.1 access tokens are listed',
    ({ own, ann }) => [`GET /operators/${ann.id}/access_tokens`, { token: own.admin }],
    ({ longLived }) => ({ status: 200, body: { access_tokens: [{ id: longLived.id, name: 'Bridge' }] } }),
  ],
  [
    '2.3 POST /visitors by an operator of one site needs no body',
    ({ ann }) => ['POST /visitors', { token: ann.token }],
    () => ({ status: 200, body: { expires_in: 86_400 } }),
  ],
  [
    '2.3 POST /visitors ignores the content type of an empty body',
    ({ ann }) => ['POST /visitors', { token: ann.token, headers: form }],
    () => ({ status: 200 }),
  ],
  [
    '2.3 POST /visitors by an operator of one site needs no site_id',
    ({ ann }) => ['POST /visitors', { token: ann.token, body: { name: 'Vi' } }],
    () => ({ status: 200 }),
  ],
  [
    '2.3 POST /visitors needs no site_id with a token limited to one site',
    ({ limited }) => ['POST /visitors', { token: limited }],
    () => ({ status: 200 }),
  ],
  [
    '2.3 POST /visitors needs site_id with a token that reaches two sites',
    ({ two }) => ['POST /visitors', { token: two.admin }],
    () => ({ status: 422, body: { details: [{ attribute: '/site_id' }] } }),
  ],
  [
    '2.3 POST /visitors refuses a form that is not empty',
    ({ ann }) => ['POST /visitors', { token: ann.token, headers: form, body: 'name=Vi' }],
    () => ({ status: 415, body: { error: 'unsupported_media_type' } }),
  ],
  [
    '2.4 GET /operators includes offline operators',
    ({ own }) => ['GET /operators', { token: own.admin }],
    ({ own, ann }) => ({ status: 200, body: ids({ id: own.adminId }, ann) }),
  ],
  [
    '2.4 GET /operators?include_offline=false leaves out offline operators',
    ({ own }) => ['GET /operators?include_offline=false', { token: own.admin }],
    ({ ann }) => ({ status: 200, body: ids(ann) }),
  ],
  [
    '2.4 contains= matches names in any case',
    ({ own }) => [`GET /operators?contains=${encodeURIComponent('łóD')}`, { token: own.admin }],
    ({ ann }) => ({ status: 200, body: ids(ann) }),
  ],
  [
    '2.4 contains= matches e-mail addresses',
    ({ own }) => ['GET /operators?contains=ANN_smith@', { token: own.admin }],
    ({ ann }) => ({ status: 200, body: ids(ann) }),
  ],
  [
    '2.4 contains= matches % literally',
    ({ own }) => ['GET /operators?contains=100%25', { token: own.admin }],
    ({ ann }) => ({ status: 200, body: ids(ann) }),
  ],
  [
    '2.4 contains= does not treat % as a wildcard',
    ({ own }) => ['GET /operators?contains=a%25n', { token: own.admin }],
    () => ({ status: 200, body: ids() }),
  ],
  [
    '2.4 GET /operators filters by site_id=',
    ({ two, second }) => [`GET /operators?site_id=${second}&contains=admin`, { token: two.admin }],
    ({ two }) => ({ status: 200, body: ids({ id: two.adminId }) }),
  ],
  [
    '2.4 GET /operators filters by site_ids[]=',
    ({ two, second }) => [`GET /operators?site_ids[]=${two.siteId}&site_ids[]=${second}`, { token: two.admin }],
    ({ two }) => ({ status: 200, body: ids({ id: two.adminId }) }),
  ],
  [
    '2.4 site_id= must be one of site_ids[]=',
    ({ two, second }) => [`GET /operators?site_id=${second}&site_ids[]=${two.siteId}`, { token: two.admin }],
    () => ({ status: 422, body: { details: [{ attribute: '/site_id' }] } }),
  ],
  [
    '2.4 a site that the caller has no role on gives 404',
    ({ own, second }) => [`GET /operators?site_id=${second}`, { token: own.admin }],
    () => ({ status: 404 }),
  ],
  [
    '2.4 GET /sites?hostname= filters by the host of an address',
    ({ two }) => ['GET /sites?hostname=shop.EXAMPLE.com', { token: two.admin }],
    ({ two }) => ({ status: 200, body: { sites: [{ id: two.siteId }] } }),
  ],
  [
    '2.4 hostname= matches an address without a scheme',
    ({ two }) => ['GET /sites?hostname=www.example.org', { token: two.admin }],
    ({ two }) => ({ status: 200, body: { sites: [{ id: two.siteId }] } }),
  ],
  [
    '2.4 hostname= matches an allowed origin',
    ({ two }) => ['GET /sites?hostname=app.example.net', { token: two.admin }],
    ({ second }) => ({ status: 200, body: { sites: [{ id: second }] } }),
  ],
  [
    '2.4 hostname= matches only the whole host',
    ({ two }) => ['GET /sites?hostname=example.com', { token: two.admin }],
    () => ({ status: 200, body: { sites: [], next_page: null } }),
  ],
  [
    '2.4 hostname= refuses a URL',
    ({ two }) => ['GET /sites?hostname=https://shop.example.com', { token: two.admin }],
    () => ({ status: 422, body: { details: [{ attribute: '/hostname' }] } }),
  ],
  [
    '2.7 PATCH accepts action in the query without a body',
    ({ engagement }) => [`PATCH /engagements/${engagement.id}?action=end`, { token: engagement.token }],
    ({ engagement }) => ({ status: 200, body: { id: engagement.id } }),
  ],
  [
    '2.7 an action in the query is validated like a body',
    ({ engagement }) => [`PATCH /engagements/${engagement.id}?action=begin`, { token: engagement.token }],
    () => ({ status: 422, body: { details: [{ attribute: '/action', detail: 'must be one of end' }] } }),
  ],
  [
    '2.7 POST /operators/{id} works as PATCH',
    ({ own, ann }) => [`POST /operators/${ann.id}`, { token: own.admin, body: { max_engagement_count: 3 } }],
    ({ ann }) => ({ status: 200, body: { id: ann.id, max_engagement_count: 3 } }),
  ],
  [
    '2.7 POST /operators accepts password and password_confirmation',
    ({ two }) => ['POST /operators', { token: two.admin, body: newOperator }],
    () => ({ status: 201, body: { name: 'Bo', sign_in: { password: true } } }),
  ],
  [
    '2.7 a new operator signs in with the password of POST /operators',
    () => ['POST /operator_authentication/sessions', { body: { email: 'bo@shop.example', password } }],
    () => ({ status: 201 }),
  ],
  [
    '2.7 POST /operators reports all violations of the password together',
    ({ own }) => [
      'POST /operators',
      { token: own.admin, body: { ...newOperator, email: 'bo', password: 'Bo2027', password_confirmation: 'Bo' } },
    ],
    () => ({
      status: 422,
      body: {
        details: [
          { attribute: '/password', detail: 'must have at least 12 characters' },
          { attribute: '/password_confirmation', detail: 'must be the same as password' },
          { attribute: '/email' },
        ],
      },
    }),
  ],
  [
    '2.7 POST /operators refuses the operator’s own name as password',
    ({ own }) => [
      'POST /operators',
      { token: own.admin, body: { name: 'Bartholomew', email: 'b@test', password: 'bartholomew2027' } },
    ],
    () => ({ status: 422, body: { details: [{ attribute: '/password' }] } }),
  ],
  [
    '2.7 POST /operators refuses a password with a token limited to some sites',
    ({ limited }) => ['POST /operators', { token: limited, body: newOperator }],
    () => ({ status: 403 }),
  ],
  [
    '2.10 POST /router/outbound_sms works as POST /outbound_sms',
    ({ own }) => ['POST /router/outbound_sms', { token: own.admin, body: sms(own.siteId) }],
    ({ own }) => ({ status: 201, body: { site_id: own.siteId, state: 'pending' } }),
  ],
  [
    '2.13 GET /operators returns next_page, last_page and the href of each operator',
    ({ own }) => ['GET /operators?per_page=1', { token: own.admin }],
    ({ own }) => ({
      status: 200,
      body: {
        operators: [{ id: own.adminId, href: `${cast.server.url}/operators/${own.adminId}` }],
        next_page: `${cast.server.url}/operators?per_page=1&page=2`,
        last_page: `${cast.server.url}/operators?per_page=1&page=2`,
      },
    }),
  ],
  [
    '2.13 GET /operators returns last_page on the last page',
    ({ own }) => ['GET /operators?per_page=1&page=2', { token: own.admin }],
    () => ({ status: 200, body: { next_page: null, last_page: `${cast.server.url}/operators?per_page=1&page=2` } }),
  ],
  [
    '2.13 GET /operators returns last_page after the last page',
    ({ own }) => ['GET /operators?per_page=1&page=9', { token: own.admin }],
    () => ({
      status: 200,
      body: { operators: [], next_page: null, last_page: `${cast.server.url}/operators?per_page=1&page=2` },
    }),
  ],
];

for (const [line, request, expected] of lines)
  test(line, async () => {
    const [route, options] = request(world);
    const answer = await call(cast.server, route, options);
    const { status, body } = expected(world);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    // `partialDeepStrictEqual` does not compare the lengths of lists.
    for (const field of ['operators', 'sites'])
      if (body?.[field] !== undefined) assert.equal(answer.body[field].length, body[field].length);
    if (body !== undefined) assert.partialDeepStrictEqual(answer.body, body);
  });

test('2.1 a deleted access token stops working at once', async () => {
  const { own, ann } = world;
  const { id, token } = await makeAccessToken(cast.server, own, ann.id);
  expectStatus(await call(cast.server, session, { token }), 200);
  expectStatus(await call(cast.server, `DELETE /operators/${ann.id}/access_tokens/${id}`, { token: own.admin }), 204);
  expectStatus(await call(cast.server, session, { token }), 401);
});

test('2.13 the href of an operator leads to that operator', async () => {
  const { body } = await call(cast.server, 'GET /operators', { token: world.own.admin });
  for (const { id, href } of body.operators) {
    const found = await call(cast.server, `GET ${new URL(href).pathname}`, { token: world.own.admin });
    assert.equal(expectStatus(found, 200).body.id, id);
  }
});
