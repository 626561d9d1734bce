import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { lookup } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Carrier, Hook, HookRequest } from '../../packages/server/src/carriers/carrier.ts';
import { openCarrier } from '../../packages/server/src/carriers/carriers.ts';
import { carrierRoutes } from '../../packages/server/src/engagements/sms/carrier-routes.ts';
import { openCarrierNetwork } from '../../packages/server/src/engagements/sms/open-network.ts';
import type { SmsId } from '../../packages/server/src/engagements/sms/sms.ts';
import { createApp } from '../../packages/server/src/platform/http/create-app.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { sendOutboundSms, newNumber, publicUrl, signatureOf, startCarrier } from '../support/services/carrier.ts';
import { startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makeAvailableOperator } from '../support/world.ts';

/** What the suite needs to simulate a carrier. */
interface Kind {
  readonly name: string;
  readonly open: (baseUrl: string) => Carrier;
  /** A request to a hook in the carrier's format. */
  readonly signed: (hook: Hook<unknown>, query: string, fields: Readonly<Record<string, string>>) => HookRequest;
  readonly receiptOf: (sid: string, status: 'delivered' | 'failed' | 'unheard of') => Readonly<Record<string, string>>;
  readonly inboundOf: (sid: string, from: string, to: string, text: string) => Readonly<Record<string, string>>;
}

const twilio: Kind = {
  name: 'twilio',
  open(baseUrl) {
    const settings = { baseUrl, accountSid: 'AC1', authToken: 'known-to-carrier-and-usher', publicUrl };
    const carrier = openCarrier({ twilio: settings }, openCarrierNetwork(lookup));
    assert(carrier !== null);
    return carrier;
  },
  signed: ({ path }, query, fields) => ({
    headers: { 'x-twilio-signature': signatureOf(`${publicUrl}${path}${query}`, fields) },
    query,
    body: String(new URLSearchParams(fields)),
  }),
  receiptOf: (sid, status) => ({ MessageSid: sid, MessageStatus: status }),
  inboundOf: (sid, from, to, text) => ({ MessageSid: sid, From: from, To: to, Body: text }),
};

const key = 'shared with the carrier of this test';
const digest = (query: string, body: string): string => createHmac('sha256', key).update(`${query}\n${body}`).digest('hex'); // prettier-ignore

/** A carrier unlike Twilio: JSON in both directions, a signature of the body, an answer with a body. */
function plainCarrier(baseUrl: string): Carrier {
  const read = ({ headers, query, body }: HookRequest): Json =>
    headers['x-plain-signature'] === digest(query, body) ? JSON.parse(body) : null;
  return {
    contentType: 'application/json',
    carriesSignature: (headers) => 'x-plain-signature' in headers,
    async send(sms, stopping) {
      try {
        const { status } = await fetch(baseUrl, { method: 'POST', body: JSON.stringify(sms), signal: stopping });
        if (status < 300) return { outcome: 'sent', sid: null };
        if (status === 429 || status >= 500) return { outcome: 'postponed', why: `status ${status}`, afterMs: null };
        return { outcome: 'refused', why: `status ${status}` };
      } catch {
        return { outcome: 'postponed', why: 'out of reach', afterMs: null };
      }
    },
    receipts: {
      path: '/carriers/plain/receipts',
      answer: null,
      read(request) {
        const parsed = read(request);
        if (parsed === null) return null;
        const id = new URLSearchParams(request.query).get('id');
        if (parsed.status === 'failed') return { id, sid: parsed.sid, receipt: { kind: 'failed', why: 'It says so.' } };
        return { id, sid: parsed.sid, receipt: parsed.status === 'delivered' ? { kind: 'delivered' } : null };
      },
    },
    inbound: {
      path: '/carriers/plain/inbound',
      answer: { contentType: 'application/json', body: '{"ok":true}' },
      read: (request) => {
        const parsed = read(request);
        return parsed === null ? null : { ...parsed, mediaCount: 0 };
      },
    },
    close: async () => undefined,
  };
}

const plain: Kind = {
  name: 'plain',
  open: plainCarrier,
  signed: (_hook, query, fields) => {
    const body = JSON.stringify(fields);
    return { headers: { 'x-plain-signature': digest(query, body) }, query, body };
  },
  receiptOf: (sid, status) => ({ sid, status }),
  inboundOf: (sid, from, to, text) => ({ sid, from, to, text }),
};

for (const { name, open, signed, receiptOf, inboundOf } of [twilio, plain]) {
  test(`${name}: each answer to an SMS has the right result, and sending never throws`, async () => {
    const sms = { id: randomUUID() as SmsId, from: '+15550001', to: '+15550002', body: 'Hello' };
    const statuses = [201, 503, 429, 400];
    const server = createServer((_request, response) => response.writeHead(statuses.shift() ?? 500).end('{}'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const carrier = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const outcome = async (stopping = new AbortController().signal): Promise<string> =>
      (await carrier.send(sms, stopping)).outcome;
    const outcomes = [await outcome(), await outcome(), await outcome(), await outcome()];
    assert.deepEqual(outcomes, ['sent', 'postponed', 'postponed', 'refused']);
    assert.equal(await outcome(AbortSignal.abort()), 'postponed');
    server.close();
    server.closeAllConnections();
    assert.equal(await outcome(), 'postponed');
    await carrier.close();
  });

  test(`${name}: a hook accepts only signed requests`, async () => {
    const carrier = open('http://127.0.0.1:1');
    const { receipts, inbound } = carrier;
    const id = randomUUID();
    const receipt = (status: 'delivered' | 'failed' | 'unheard of') =>
      receipts.read(signed(receipts, `?id=${id}`, receiptOf('SM1', status)));
    assert.deepEqual(receipt('delivered'), { id, sid: 'SM1', receipt: { kind: 'delivered' } });
    assert.equal(receipt('failed')?.receipt?.kind, 'failed');
    assert.deepEqual(receipt('unheard of'), { id, sid: 'SM1', receipt: null });
    const call = signed(inbound, '', inboundOf('SM2', '+15550001', '+15550002', 'Yes & no'));
    const expected = { sid: 'SM2', from: '+15550001', to: '+15550002', text: 'Yes & no', mediaCount: 0 };
    assert.deepEqual(inbound.read(call), expected);

    assert.equal(carrier.carriesSignature(call.headers), true);
    assert.equal(carrier.carriesSignature({}), false);
    assert.equal(inbound.read({ ...call, headers: {} }), null);
    assert.equal(inbound.read({ ...call, query: '?id=1' }), null);
    assert.equal(inbound.read({ ...call, body: call.body.replace('SM2', 'SM3') }), null);
    await carrier.close();
  });
}

test('a reply through another carrier accepts the request, by the same routes', async () => {
  await using sending = await startCarrier();
  await using server = await startTestServer({ twilio: sending.settings });
  const carrier = plain.open('');
  const log = createLog('silent');
  const metrics = { sent: () => undefined, inbound: () => undefined, receipt: () => undefined };
  const service = { carrier, sql: server.database.sql, metrics, wake: () => undefined, onCommitted: () => undefined };
  const app = createApp({ log, sql: server.database.sql, trustProxy: false });
  await carrierRoutes(app, service);
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const [from_number, to_number] = [newNumber(), newNumber()];
  const requested = expectStatus(await sendOutboundSms(server, own, operator, { from_number, to_number }), 201).body;
  await until(() => sending.acceptedSms.length > 0);

  const { headers, body } = plain.signed(carrier.inbound, '', plain.inboundOf('P1', to_number, from_number, 'Yes'));
  const post = { method: 'POST', url: carrier.inbound.path, payload: body } as const;
  const json = { 'content-type': 'application/json' };
  const signature = String(headers['x-plain-signature']);
  const answer = await app.inject({ ...post, headers: { ...json, 'x-plain-signature': signature } });
  assert.deepEqual([answer.statusCode, answer.json()], [200, { ok: true }]);
  assert.equal((await app.inject({ ...post, headers: json })).statusCode, 403);
  await until(async () => {
    const [row] = await server.database
      .sql`SELECT 1 FROM engagement_requests WHERE id = ${requested.id} AND state = 'accepted'`;
    return row !== undefined;
  });
  await app.close();
});
