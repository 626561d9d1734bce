import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { enqueue, expectStatus, makeAvailableOperator, makeQueue, offersOf } from '../support/world.ts';

const { server, account } = await openWorld();
const receiver = await forThisFile(startReceiver());

const traceOf = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

/** The header with which the event of the type, or the message, arrived. */
function traceOfEvent(matches: (event: Json) => boolean, header = 'traceparent'): unknown {
  const found = receiver.arrived.find(({ event }) => matches(event));
  assert.ok(found);
  return found.headers[header];
}

test('the trace of a request is logged, and passed on in the webhooks that the request causes', async () => {
  const events = ['engagement.start', 'engagement.end', 'engagement.chat.message'];
  await makeWebhook(server, account, { url: receiver.url, events });
  const queue = await makeQueue(server, account);
  const operator = await makeAvailableOperator(server, account);
  const { visitor } = await enqueue(server, account, queue);
  const [offer] = await offersOf(server, operator);
  const accepted = await call(server, `PATCH /engagement_requests/${offer.id}`, {
    token: operator.token,
    body: { action: 'accept' },
    headers: { traceparent: traceOf('a'), tracestate: 'vendor=start' },
  });
  const { engagement_id: id } = expectStatus(accepted, 200).body;
  const say = async (content: string, traceparent?: string) =>
    expectStatus(
      await call(server, `PUT /engagements/${id}/chat_messages/${randomUUID()}`, {
        token: visitor.token,
        body: { content },
        headers: { tracestate: `vendor=${content}`, ...(traceparent === undefined ? {} : { traceparent }) },
      }),
      200,
    );
  // At the same time, so that they may share a statement with others.
  await Promise.all([say('traced', traceOf('b')), say('untraced'), say('other', traceOf('c'))]);
  await say('invalid', '00-nonsense');
  const ended = await call(server, `PATCH /engagements/${id}`, { token: operator.token, body: { action: 'end' } });
  expectStatus(ended, 200);
  await until(() => receiver.arrived.length === 6);

  assert.equal(traceOfEvent(({ event_type }) => event_type === 'engagement.start'), traceOf('a')); // prettier-ignore
  const ofMessage = (content: string): unknown => traceOfEvent(({ message }) => message?.content === content);
  assert.deepEqual(['traced', 'untraced', 'other', 'invalid'].map(ofMessage), [traceOf('b'), undefined, traceOf('c'), undefined]); // prettier-ignore
  assert.equal(traceOfEvent(({ event_type }) => event_type === 'engagement.end'), undefined); // prettier-ignore

  const stateOf = (content: string): unknown =>
    traceOfEvent(({ message }) => message?.content === content, 'tracestate');
  // Without a valid traceparent there is no tracestate.
  assert.deepEqual(['traced', 'untraced', 'other', 'invalid'].map(stateOf), ['vendor=traced', undefined, 'vendor=other', undefined]); // prettier-ignore
  assert.equal(traceOfEvent(({ event_type }) => event_type === 'engagement.start', 'tracestate'), 'vendor=start'); // prettier-ignore

  const lines = server.logged.map((line) => JSON.parse(line));
  const line = lines.find(({ trace_id }) => trace_id === 'a'.repeat(32));
  assert.deepEqual([line.route, line.parent_id], ['/engagement_requests/:request_id', 'a'.repeat(16)]);
  assert.equal(lines.filter(({ trace_id }) => trace_id !== undefined).length, 3);
});

test('a header of the registration is sent instead of the trace', async () => {
  receiver.arrived.length = 0;
  const headers = { Traceparent: traceOf('d') };
  await makeWebhook(server, account, { url: receiver.url, events: ['sip_domain.delete'], headers });
  const body = { site_id: account.siteId, domain: 'sip.example.com' };
  const made = await call(server, 'POST /sip_domains', { token: account.admin, body });
  const { id } = expectStatus(made, 201).body;
  const traced = { token: account.admin, headers: { traceparent: traceOf('e'), tracestate: 'vendor=e' } };
  expectStatus(await call(server, `DELETE /sip_domains/${id}`, traced), 204);
  await until(() => receiver.arrived.length > 0);
  assert.deepEqual(receiver.arrived.map(({ headers: sent }) => sent['traceparent']), [traceOf('d')]); // prettier-ignore
  assert.deepEqual(receiver.arrived.map(({ headers: sent }) => sent['tracestate']), [undefined]); // prettier-ignore
});
