import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, SettingError } from '../../packages/server/src/config.ts';
import { sendOutbound } from '../../packages/server/src/engagements/sms/send-outbound.ts';
import { Refusal } from '../../packages/server/src/platform/errors.ts';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import type { Turns } from '../../packages/server/src/routing/turns.ts';
import { sendOutboundSms, newNumber, startCarrier } from '../support/services/carrier.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { eventsOf, expectStatus, makeAccount, makeOperator, makeSite, makeVisitor } from '../support/world.ts';

const carrier = await forThisFile(startCarrier());
const server = await forThisFile(startTestServer({ twilio: carrier.settings }));

function sentTo(to: string): number {
  return carrier.acceptedSms.filter((sms) => sms.to === to).length;
}

/** Waits until no SMS is due. */
async function idle(): Promise<void> {
  await until(async () => {
    const due = await server.database.sql`SELECT 1 FROM sms_messages WHERE due_at <= now() + interval '1 hour'`;
    return due.length === 0;
  });
}

test('the settings of a carrier must be complete and valid', () => {
  const { environment } = carrier;
  assert.equal(readConfig({}).twilio, null);
  assert.deepEqual(readConfig(environment).twilio, carrier.settings);
  const slash = readConfig({ ...environment, USHER_TWILIO_PUBLIC_URL: 'https://usher.example:443/' });
  assert.equal(slash.twilio?.publicUrl, 'https://usher.example');
  for (const name of Object.keys(environment)) {
    const { [name]: left, ...others } = environment;
    assert.throws(() => readConfig(others), new RegExp(`go together.*Missing: ${name}\\.`));
    assert.throws(() => readConfig({ [name]: left ?? '' }), SettingError);
  }
  for (const wrong of [
    { USHER_TWILIO_BASE_URL: 'api.twilio.com' },
    { USHER_TWILIO_BASE_URL: 'ftp://api.twilio.com' },
    { USHER_TWILIO_BASE_URL: 'https://user:secret@api.twilio.com' },
    { USHER_TWILIO_PUBLIC_URL: 'https://usher.example/?a=b' },
    { USHER_TWILIO_ACCOUNT_SID: '../AC' },
    { USHER_TWILIO_AUTH_TOKEN: 'with space' },
  ])
    assert.throws(
      () => readConfig({ ...environment, ...wrong }),
      (error: Error) => error instanceof SettingError && !/secret|with space/.test(error.message),
    );
});

test('without a carrier the route names the settings, and the carrier’s routes do not exist', async () => {
  const bare = await startTestServer({}, server.database.address);
  try {
    const own = await makeAccount(bare);
    const answer = await sendOutboundSms(bare, own, { token: own.admin });
    assert.deepEqual([answer.status, answer.body.error], [503, 'no_carrier']);
    assert.match(
      answer.body.detail,
      /USHER_TWILIO_BASE_URL, USHER_TWILIO_ACCOUNT_SID, USHER_TWILIO_AUTH_TOKEN, USHER_TWILIO_PUBLIC_URL/,
    );
    for (const path of ['status', 'inbound'])
      assert.equal((await call(bare, `POST /carriers/twilio/${path}`, { body: {} })).status, 404);
  } finally {
    await bare[Symbol.asyncDispose]();
  }
});

test('an invalid request gets all violations at once and leaves nothing behind', async () => {
  const own = await makeAccount(server);
  const admin = { token: own.admin };
  const wrong = expectStatus(
    await sendOutboundSms(server, own, admin, {
      from_number: '5551234',
      to_number: '+0123456789',
      message: '',
      more: 1,
    }),
    422,
  ).body;
  assert.deepEqual(wrong.details.map(({ attribute }: Json) => attribute).toSorted(), [
    '/from_number',
    '/message',
    '/more',
    '/to_number',
  ]);
  const rules: [Json, number, string][] = [
    [{ message: 'x'.repeat(1_601) }, 422, 'invalid_request'],
    [{ to_number: '+123456' }, 422, 'invalid_request'],
    [{ to_number: '+1234567890123456' }, 422, 'invalid_request'],
    [{ from_number: '+15550001111', to_number: '+15550001111' }, 422, 'invalid_request'],
    [{ site_id: (await makeAccount(server)).siteId }, 404, 'not_found'],
  ];
  for (const [given, status, error] of rules) {
    const answer = await sendOutboundSms(server, own, admin, given);
    assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(given));
  }
  const [to_number, from_number] = [newNumber(), newNumber()];
  expectStatus(await sendOutboundSms(server, own, admin, { to_number, from_number }), 201);
  await idle();
  for (let each = 1; each < 10; each += 1)
    expectStatus(await sendOutboundSms(server, own, admin, { to_number, from_number }), 201);
  const tooMany = await sendOutboundSms(server, own, admin, { to_number, from_number });
  assert.deepEqual([tooMany.status, tooMany.body.error], [409, 'too_many']);
  await idle();
  assert.equal(sentTo(to_number), 10);
  const rows = await server.database.sql`SELECT 1 FROM sms_threads WHERE to_number = ${to_number}`;
  assert.equal(rows.length, 10);
});

test('D12.4 the visitor is the one who received the last SMS, never one who claims the phone number', async () => {
  const own = await makeAccount(server);
  const admin = { token: own.admin };
  const to_number = newNumber();
  const claims = await makeVisitor(server, own);
  const path = `PATCH /sites/${own.siteId}/visitors/${claims.id}`;
  expectStatus(await call(server, path, { token: claims.token, body: { phone: to_number } }), 200);
  const first = expectStatus(await sendOutboundSms(server, own, admin, { to_number }), 201).body.visitor_id;
  assert.notEqual(first, claims.id);
  assert.equal(expectStatus(await sendOutboundSms(server, own, admin, { to_number }), 201).body.visitor_id, first);
  const elsewhere = await sendOutboundSms(server, own, admin, { site_id: await makeSite(server, own), to_number });
  assert.notEqual(expectStatus(elsewhere, 201).body.visitor_id, first);

  const fresh = newNumber();
  const requested = await Promise.all(
    Array.from({ length: 5 }, async () => sendOutboundSms(server, own, admin, { to_number: fresh })),
  );
  assert.equal(new Set(requested.map((answer) => expectStatus(answer, 201).body.visitor_id)).size, 1);
});

test('an account cannot send from a number that another account uses', async () => {
  const [own, other] = [await makeAccount(server), await makeAccount(server)];
  const from_number = newNumber();
  expectStatus(await sendOutboundSms(server, own, { token: own.admin }, { from_number }), 201);
  const refused = expectStatus(await sendOutboundSms(server, other, { token: other.admin }, { from_number }), 422).body;
  assert.deepEqual(refused.details, [{ attribute: '/from_number', detail: 'is not a number of this account' }]);
  expectStatus(await sendOutboundSms(server, own, { token: own.admin }, { from_number }), 201);
});

test('D7.7 an Idempotency-Key makes one request and one SMS, also concurrently, and a new one after 24 hours', async () => {
  const own = await makeAccount(server);
  const given = { from_number: newNumber(), to_number: newNumber(), headers: { 'idempotency-key': 'sms-once' } };
  const requested = await Promise.all(
    Array.from({ length: 12 }, async () => sendOutboundSms(server, own, { token: own.admin }, given)),
  );
  const [id, ...others] = [...new Set(requested.map((answer) => expectStatus(answer, 201).body.id))];
  assert.deepEqual(others, []);
  await until(() => sentTo(given.to_number) === 1);
  const { sql } = server.database;

  // The process died before it answered: the key is unused, but its thread and SMS exist.
  await sql`DELETE FROM idempotency_keys`;
  assert.equal(expectStatus(await sendOutboundSms(server, own, { token: own.admin }, given), 201).body.id, id);
  await idle();
  assert.equal(sentTo(given.to_number), 1);

  await sql`DELETE FROM idempotency_keys`;
  await sql`UPDATE sms_threads SET created_at = created_at - interval '25 hours' WHERE request_id = ${id}`;
  await sql`UPDATE engagement_requests SET created_at = created_at - interval '25 hours' WHERE id = ${id}`;
  const second = expectStatus(await sendOutboundSms(server, own, { token: own.admin }, given), 201).body;
  assert.notEqual(second.id, id);
  await until(() => sentTo(given.to_number) === 2);
});

test('an operator requests and cancels, and a canceled request is not sent', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  carrier.nextBehaviours.push({ status: 503 });
  const before = carrier.requestCount;
  const to_number = newNumber();
  const { id } = expectStatus(await sendOutboundSms(server, own, operator, { to_number }), 201).body;
  await until(() => carrier.requestCount > before);
  const cancel = { token: operator.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /engagement_requests/${id}`, cancel), 200);
  await idle();
  assert.equal(sentTo(to_number), 0);
  const [event, ...others] = await eventsOf(server, own);
  assert.deepEqual([event.engagement_request.fail_reason, others], ['operator_cancel', []]);
});

test('D12.1 a request by SMS is still pending in a process that starts days later, and times out after 72 hours', async () => {
  const first = await startTestServer({ twilio: carrier.settings });
  const own = await makeAccount(first);
  const from_number = newNumber();
  const [replied, late] = [
    expectStatus(await sendOutboundSms(first, own, { token: own.admin }, { from_number }), 201).body,
    expectStatus(await sendOutboundSms(first, own, { token: own.admin }, { from_number }), 201).body,
  ];
  const smsOf = ({ id }: Json) => carrier.acceptedSms.find(({ statusCallback }) => statusCallback.endsWith(id));
  await until(() => smsOf(replied) !== undefined && smsOf(late) !== undefined);
  const { sql } = first.database;
  await sql`UPDATE engagement_requests SET created_at = created_at - interval '50 hours' WHERE id = ${replied.id}`;
  await sql`UPDATE engagement_requests SET created_at = created_at - interval '72.5 hours' WHERE id = ${late.id}`;
  await first[Symbol.asyncDispose]();

  const second = await startTestServer({ twilio: carrier.settings }, first.database.address);
  try {
    const sms = smsOf(replied);
    assert.ok(sms);
    await carrier.reply(second, sms, 'Only now');
    const stateOf = async (id: string): Promise<Json> =>
      (await call(second, `GET /engagement_requests/${id}`, { token: own.admin })).body;
    await until(async () => (await stateOf(replied.id)).state === 'accepted');
    await until(async () => (await stateOf(late.id)).fail_reason === 'timed_out');
  } finally {
    await second[Symbol.asyncDispose]();
  }
});

test('no text and no phone number is in the log', async () => {
  const own = await makeAccount(server);
  const given = { from_number: newNumber(), to_number: newNumber(), message: 'between us alone' };
  carrier.nextBehaviours.push({
    status: 400,
    body: { code: 21211, message: `${given.to_number} is not valid`, status: 400 },
  });
  const { id } = expectStatus(await sendOutboundSms(server, own, { token: own.admin }, given), 201).body;
  await until(async () => {
    const { body } = await call(server, `GET /engagement_requests/${id}`, { token: own.admin });
    return body.fail_message === `The carrier reported 21211: ${given.to_number} is not valid`;
  });
  const log = server.logged.join('');
  assert.match(log, /outbound_sms/);
  assert.doesNotMatch(log, new RegExp(`between us|${given.to_number.slice(1)}|${given.from_number.slice(1)}`));
});

/** The board refuses a request if the operator waits for a thousand replies. */
const fullBoard = {
  run: async () => Promise.reject(new Refusal('too_many', 'The operator waits for too many replies.')),
};

test('a refused request by SMS leaves no visitor, thread or message', async () => {
  const { siteId, adminId } = await makeAccount(server);
  const { sql } = server.database;
  const [own] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM sites WHERE id = ${siteId}`;
  const accountId = own?.id ?? assert.fail();
  const operatorId = adminId as OperatorId;
  const input = { accountId, siteId, operatorId, from: newNumber(), to: newNumber(), body: 'Hello?', keyedId: null };
  await assert.rejects(sendOutbound(sql, fullBoard as unknown as Turns, input), { code: 'too_many' });
  const left = await sql`
    SELECT id FROM visitors WHERE site_id = ${siteId}
    UNION ALL SELECT request_id FROM sms_threads WHERE site_id = ${siteId}
    UNION ALL SELECT id FROM sms_messages WHERE site_id = ${siteId}`;
  assert.deepEqual([...left], []);
});
