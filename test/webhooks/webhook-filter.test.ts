import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { compileFilter, type Filter } from '../../packages/server/src/events/subscriptions/filter.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import { leaseElsewhere, makeWebhook, webhookFields } from '../support/receivers/webhooks.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type TestAccount,
} from '../support/world.ts';

const { server, account } = await openWorld();
const { sql } = server.database;
await leaseElsewhere(server);

const events = ['ticket.created', 'ticket.ended', 'engagement.start', 'engagement.chat.message'];

async function typesFor(webhook: string): Promise<string[]> {
  const rows = await sql<{ type: string }[]>`
    SELECT event_type AS type FROM deliveries WHERE webhook_id = ${webhook} ORDER BY event_seq`;
  return rows.map(({ type }) => type);
}

async function filtered(own: TestAccount, filter: Filter | null): Promise<string> {
  return (await makeWebhook(server, own, { events, filter })).id;
}

test('a webhook is sent only the events that pass its filter, and others make no delivery', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const other = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const [all, ofQueue, ofOther, notOther, mixed, byType] = [
    await filtered(own, null),
    await filtered(own, { field: 'ticket.queue_ids', in: [queue] }),
    await filtered(own, { field: 'ticket.queue_ids', in: [other] }),
    await filtered(own, { field: 'ticket.queue_ids', not_in: [other] }),
    await filtered(own, {
      any: [
        { field: 'event_type', in: ['engagement.start'] },
        {
          all: [
            { field: 'ticket.state', in: ['engaged', 'expired'] },
            { field: 'ticket.media', not_in: ['video', 1] },
          ],
        },
      ],
    }),
    await filtered(own, { field: 'event_type', in: ['engagement.chat.message'] }),
  ];
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await enqueue(server, own, queue);
  const engagement = await acceptOffer(server, operator);
  const message = { content: 'Hello' };
  const path = `PUT /engagements/${engagement}/chat_messages/00000000-0000-4000-8000-000000000001`;
  expectStatus(await call(server, path, { token: visitor.token, body: message }), 200);

  const tickets = ['ticket.created', 'ticket.ended'];
  assert.deepEqual((await typesFor(all)).toSorted(), events.toSorted());
  assert.deepEqual(await typesFor(ofQueue), tickets);
  assert.deepEqual(await typesFor(ofOther), []);
  assert.deepEqual(await typesFor(notOther), tickets, 'an event without the field does not pass');
  assert.deepEqual((await typesFor(mixed)).toSorted(), ['engagement.start', 'ticket.ended']);
  assert.deepEqual(await typesFor(byType), ['engagement.chat.message']);
});

test('a filter is shown, kept by a PUT without it, and removed by null', async () => {
  const filter = { field: 'engagement.end_reason', in: ['error', null] };
  const body = { ...webhookFields, events: ['engagement.end'] };
  const { id, filter: made } = await makeWebhook(server, account, { ...body, filter });
  assert.deepEqual(made, filter);
  const put = async (fields: Json) =>
    expectStatus(await call(server, `PUT /webhooks/${id}`, { token: account.admin, body: { ...body, ...fields } }), 200)
      .body.filter;
  assert.deepEqual(await put({ description: 'as the console saves it' }), filter);
  const [row] = await sql`SELECT filter_path::text AS path, filter_values AS values FROM webhooks WHERE id = ${id}`;
  assert.deepEqual({ ...row }, { path: '($."engagement"."end_reason" == $"v0"[*])', values: { v0: ['error', null] } });
  assert.equal(await put({ filter: null }), null);
  const [without] = await sql`SELECT filter_path FROM webhooks WHERE id = ${id}`;
  assert.equal(without?.['filter_path'], null);
});

/** A condition with so many values. */
function conditionOf(values: number, value: string = randomUUID()): Filter {
  return { field: 'ticket.site_id', in: Array.from({ length: values }, () => value) };
}

/** A filter with so many conditions of so many values. */
function filterOf(conditions: number, values: number): Filter {
  return { any: Array.from({ length: conditions }, () => conditionOf(values)) };
}

test('the filters of an account together are limited, exactly under concurrency; stored ones stay', async () => {
  const own = await makeAccount(server);
  const post = async (filter: Filter) =>
    call(server, 'POST /webhooks', { token: own.admin, body: { ...webhookFields, events, filter } });
  const first = expectStatus(await post(filterOf(5, 80)), 201).body;
  // 400 of 1,000 values: one of these two requests fits.
  const answers = await Promise.all([post(filterOf(5, 100)), post(filterOf(5, 100))]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 422],
  );
  const [violation] = answers.find(({ status }) => status === 422)?.body.details ?? [];
  assert.equal(violation.attribute, '/filter');
  assert.match(violation.detail, /together they would have 15 conditions, 1400 values/);
  const put = async (id: string, body: Json) => {
    const complete = { ...webhookFields, events, ...body };
    return call(server, `PUT /webhooks/${id}`, { token: own.admin, body: complete });
  };
  const last = expectStatus(await post(filterOf(10, 1)), 201).body;
  expectStatus(await post(filterOf(31, 1)), 422);
  // As if it had been stored before there were limits.
  const large = filterOf(40, 1);
  await sql`UPDATE webhooks SET filter = ${JSON.stringify(large)}::text::json WHERE id = ${last.id}`;
  assert.deepEqual(expectStatus(await put(last.id, { description: 'changed' }), 200).body.filter, large);
  expectStatus(await put(last.id, { filter: large, enabled: false }), 200);
  expectStatus(await put(first.id, { filter: filterOf(6, 1) }), 422);
  expectStatus(await put(first.id, { filter: null }), 200);
  expectStatus(await put(first.id, { filter: filterOf(5, 1) }), 200);
});

test('a condition on the options of a card, and each of its values, counts as ten', async () => {
  const own = await makeAccount(server);
  const post = async (conditions: number, values: number) => {
    const condition = { ...conditionOf(values), field: 'message.attachment.options.value' };
    const filter = { any: Array.from({ length: conditions }, () => condition) };
    const body = { ...webhookFields, events: ['engagement.chat.message'], filter };
    return call(server, 'POST /webhooks', { token: own.admin, body });
  };
  const [tooMany] = expectStatus(await post(6, 1), 422).body.details;
  assert.match(tooMany.detail, /^must not have more than 50 conditions; a condition on the options of a card/);
  const [tooLong] = expectStatus(await post(1, 51), 422).body.details;
  assert.match(tooLong.detail, /^must not have more than 500 values/);
  expectStatus(await post(2, 25), 201);
  const [together] = expectStatus(await post(4, 1), 422).body.details;
  assert.match(together.detail, /together they would have 60 conditions, 540 values/);
  expectStatus(await post(3, 16), 201);
});

test('an invalid filter is refused, and the violation points into it', async () => {
  const condition = { field: 'ticket.site_id', in: ['x'] };
  const deep = { all: [{ all: [{ all: [{ all: [condition] }] }] }] };
  const cases: readonly [unknown, string][] = [
    ['ticket', '/filter'],
    [[], '/filter'],
    [{}, '/filter'],
    [{ field: 'ticket.site_id' }, '/filter'],
    [{ ...condition, not_in: ['y'] }, '/filter'],
    [{ all: [condition], field: 'ticket.site_id' }, '/filter'],
    [{ any: [] }, '/filter/any'],
    [{ any: [condition, 3] }, '/filter/any/1'],
    [{ any: [{ field: 'ticket.site_id', in: [] }] }, '/filter/any/0/in'],
    [{ field: 'ticket.site_id', in: [{}] }, '/filter/in/0'],
    [{ field: 'ticket.site_id', in: ['x'.repeat(501)] }, '/filter/in/0'],
    [{ field: 'ticket.site_id', in: Array.from({ length: 101 }, () => 1) }, '/filter/in'],
    [{ field: 'ticket', in: ['x'] }, '/filter/field'],
    [{ field: 'ticket.sight_id', in: ['x'] }, '/filter/field'],
    [{ field: 'ticket.constructor', in: ['x'] }, '/filter/field'],
    [{ field: 'ticket."site_id"', in: ['x'] }, '/filter/field'],
    [{ field: 3, in: ['x'] }, '/filter/field'],
    [deep, '/filter/all/0/all/0/all/0/all'],
    [{ any: Array.from({ length: 51 }, () => condition) }, '/filter'],
    // 501 values, and more than 32,768 characters.
    [{ any: Array.from({ length: 6 }, (_, n) => conditionOf(n === 5 ? 1 : 100)) }, '/filter'],
    [{ any: Array.from({ length: 4 }, () => conditionOf(20, 'x'.repeat(500))) }, '/filter'],
  ];
  for (const [filter, pointer] of cases) {
    const body = { ...webhookFields, events, filter };
    const refused = expectStatus(await call(server, 'POST /webhooks', { token: account.admin, body }), 422);
    assert.deepEqual(refused.body.details.map(({ attribute }: Json) => attribute), [pointer], JSON.stringify(filter)); // prettier-ignore
  }
});

test('a compiled filter compares as documented, whatever the values contain', async () => {
  const payload = {
    text: 'a "quoted" \\ text\n\u2028',
    number: -1.5,
    large: 1e300,
    yes: true,
    nothing: null,
    list: ['a', 'b'],
    empty: [],
    nested: [{ name: 'x' }, { name: 'y' }],
    lists: [['a']],
    mixed: ['x', 2, null],
  };
  const cases: readonly [Filter, boolean][] = [
    [{ field: 'text', in: ['other', payload.text] }, true],
    [{ field: 'text', in: ['other'] }, false],
    [{ field: 'text', not_in: ['other'] }, true],
    [{ field: 'text', not_in: [1, true, null] }, true],
    [{ field: 'text', not_in: [1, payload.text] }, false],
    [{ field: 'number', in: [-1.5] }, true],
    [{ field: 'number', in: ['-1.5'] }, false],
    [{ field: 'large', in: [1e300] }, true],
    [{ field: 'yes', in: [true] }, true],
    [{ field: 'yes', in: ['true', 1] }, false],
    [{ field: 'nothing', in: [null] }, true],
    [{ field: 'nothing', not_in: ['x'] }, true],
    [{ field: 'missing', in: [null] }, false],
    [{ field: 'missing', not_in: ['x'] }, false],
    [{ field: 'text.missing', not_in: ['x'] }, false],
    [{ field: 'list', in: ['b'] }, true],
    [{ field: 'list', not_in: ['b'] }, false],
    [{ field: 'list', not_in: ['c'] }, true],
    [{ field: 'empty', in: ['c'] }, false],
    [{ field: 'empty', not_in: ['c'] }, true],
    [{ field: 'nested.name', in: ['y'] }, true],
    [{ field: 'nested.name', not_in: ['y'] }, false],
    [{ field: 'nested.name', not_in: [1, null] }, true],
    [{ field: 'nested', in: ['x'] }, false],
    [{ field: 'nested', not_in: ['x'] }, true],
    [{ field: 'lists', in: ['a'] }, false],
    [{ field: 'lists', not_in: ['a'] }, true],
    [{ field: 'mixed', in: [2, 'a'] }, true],
    [{ field: 'mixed', not_in: ['a', true] }, true],
    [{ field: 'mixed', not_in: ['a', 2.0] }, false],
    [
      {
        all: [
          { field: 'yes', in: [true] },
          { field: 'missing', in: [1] },
        ],
      },
      false,
    ],
    [
      {
        any: [
          { field: 'yes', in: ['wrong type'] },
          { field: 'list', in: ['a'] },
        ],
      },
      true,
    ],
  ];
  for (const [filter, expected] of cases) {
    const { path, values } = compileFilter(filter);
    const [row] = await sql<{ passes: boolean }[]>`
      SELECT coalesce(jsonb_path_match(${JSON.stringify(payload)}::text::jsonb, ${path}::text::jsonpath,
                                       ${JSON.stringify(values)}::text::jsonb, true), false) AS passes`;
    assert.equal(row?.passes, expected, JSON.stringify(filter));
  }
});
