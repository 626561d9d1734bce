import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preferredHandling } from '../../../packages/server/src/platform/http/check-request.ts';
import { engage } from '../../support/people/chat.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, type Answer, type Json } from '../../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makePolicy,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  queueFields,
  type TestAccount,
} from '../../support/world.ts';

/** Which requests may have unknown fields: RFC 7240 `Prefer`, and the setting `lenient_requests` of the site. */
const { server, account } = await openWorld();
/** The site with the setting. The account's first site does not have it. */
const easy = await makeSite(server, account);
const body = { lenient_requests: true };
expectStatus(await call(server, `PATCH /sites/${easy}`, { token: account.admin, body }), 200);

async function ask(request: string, body?: Json, more: Json = {}): Promise<Answer> {
  return call(server, request, { token: account.admin, body, ...more });
}

function isApplied({ headers }: Answer): boolean {
  return headers.get('preference-applied') === 'handling=lenient';
}

test('the site is found in the path, the body, the query and the resource', async () => {
  const on = (siteId: TestAccount['siteId']): TestAccount => ({ ...account, siteId });
  for (const [site, status] of [
    [easy, 'ignored'],
    [account.siteId, 'refused'],
  ] as const) {
    const queue = await makeQueue(server, on(site));
    const team = await makeTeam(server, account, site);
    const policy = await makePolicy(server, on(site));
    const visitor = await makeVisitor(server, account, site);
    const requests: readonly (readonly [string, Json?])[] = [
      [`PATCH /sites/${site}`, { odd: 1 }],
      [`PATCH /sites/${site}/visitors/${visitor.id}`, { odd: 1 }],
      [`POST /queues`, { ...queueFields, site_id: site.toUpperCase(), odd: { a: [1] } }],
      [`PUT /queues/${queue}`, { ...queueFields, odd: 1 }],
      [`PATCH /queues/${queue}/rankings`, { operators: [], odd: 1 }],
      [`PATCH /teams/${team}`, { odd: 1 }],
      [`GET /queues/scheduling_policies/${policy}?odd=1`],
      [`GET /queues?site_ids[]=${site}&odd=1`],
      [`GET /queues/${queue}?odd=1`],
    ];
    for (const [request, body] of requests) {
      const answer = await ask(request, body);
      const found = answer.status === 422 ? 'refused' : 'ignored';
      assert.equal(found, status, `${request}: ${answer.status} ${JSON.stringify(answer.body)}`);
      assert.equal(isApplied(answer), status === 'ignored', request);
      // A valid request has no such header.
      if (body !== undefined) {
        const { odd: _, ...fitting } = body;
        assert.equal(isApplied(await ask(request, fitting)), false);
      }
    }
  }
});

test('all named sites must be lenient, or all sites of the token if none is named', async () => {
  const both = `site_ids[]=${easy}&site_ids[]=${account.siteId}`;
  expectStatus(await ask(`GET /queues?${both}&odd=1`), 422);
  expectStatus(await ask('GET /sites?odd=1'), 422);
  const there = await makeOperator(server, account, [{ site_id: easy, role: 'super_manager' }]);
  const answer = expectStatus(await ask('GET /sites?odd=1', undefined, { token: there.token }), 200);
  assert.ok(isApplied(answer));
  // The setting of a site outside the token has no effect.
  const stranger = await makeAccount(server);
  expectStatus(await ask(`GET /queues?site_ids[]=${easy}&odd=1`, undefined, { token: stranger.admin }), 422);
  expectStatus(await ask('POST /queues', { ...queueFields, site_id: easy, odd: 1 }, { token: stranger.admin }), 422);
});

test("the site of visitors and application tokens is the token's", async () => {
  const chat = await engage(server);
  const path = `/engagements/${chat.id}/typing_indicator`;
  const typing = async (): Promise<Answer> =>
    call(server, `PUT ${path}`, { token: chat.visitor.token, body: { typing: true, odd: 1 } });
  const token = await makeApplicationToken(server, chat.own, 'publishable');
  const visit = async (): Promise<Answer> =>
    call(server, 'POST /visitors', { token: token.header, body: { name: 'A', odd: 1 } });
  expectStatus(await typing(), 422);
  expectStatus(await visit(), 422);
  const body = { lenient_requests: true };
  expectStatus(await call(server, `PATCH /sites/${chat.own.siteId}`, { token: chat.own.admin, body }), 200);
  assert.ok(isApplied(expectStatus(await typing(), 204)));
  assert.ok(isApplied(expectStatus(await visit(), 200)));
});

test('D7.10 Prefer overrides the setting in both directions', async () => {
  const queue = { ...queueFields, site_id: easy, odd: 1 };
  expectStatus(await ask('POST /queues', queue, { headers: { prefer: 'handling=strict' } }), 422);
  const other = { ...queueFields, site_id: account.siteId, odd: 1 };
  const answer = await ask('POST /queues', other, { headers: { prefer: 'respond-async, Handling="lenient"; x=y' } });
  assert.ok(isApplied(expectStatus(answer, 201)));
});

test('the first handling preference counts (RFC 7240)', () => {
  const cases: readonly (readonly [string | string[] | undefined, ReturnType<typeof preferredHandling>])[] = [
    [undefined, null],
    ['', null],
    ['handling=lenient', 'lenient'],
    ['HANDLING = Lenient', 'lenient'],
    ['return=minimal; foo=bar, handling="strict"', 'strict'],
    ['handling=lenient, handling=strict', 'lenient'],
    [['wait=10', 'handling=lenient'], 'lenient'],
    ['handling', null],
    ['handling=odd', null],
    ['handling=lenient;a=b', 'lenient'],
    ['xhandling=lenient', null],
  ];
  for (const [header, expected] of cases) assert.equal(preferredHandling(header), expected, String(header));
});

test('D7.12 a caller without permission gets 403 and no violations', async () => {
  const manager = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  expectStatus(await ask(`POST /webhooks`, { odd: 1 }, { token: manager.token }), 403);
  expectStatus(await call(server, 'POST /queues?odd=1'), 401);
});

test('a repeated request gets the answer of the first, even with ignored fields', async () => {
  const headers = { 'idempotency-key': 'lenient-1', prefer: 'handling=lenient' };
  const body = { ...queueFields, site_id: account.siteId, odd: 1 };
  const first = expectStatus(await ask('POST /queues', body, { headers }), 201);
  const again = expectStatus(await ask('POST /queues', body, { headers }), 201);
  assert.equal(again.body.id, first.body.id);
  assert.deepEqual([isApplied(first), isApplied(again)], [true, true]);
});

test('thousands of unknown fields are refused at once, and a hundred of them are listed', async () => {
  const odd = Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`odd${n}`, n]));
  const { details } = expectStatus(await ask('POST /queues', { ...odd, site_id: account.siteId }), 422).body;
  assert.equal(details.length, 100);
  const ignored = await ask('POST /queues', { ...queueFields, ...odd, site_id: easy });
  assert.ok(isApplied(expectStatus(ignored, 201)));
});
