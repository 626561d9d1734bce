import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { connect, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { engage, say, type Engaged } from '../../support/people/chat.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { openFeed } from '../../support/people/feed.ts';
import { fileForm } from '../../support/people/files.ts';
import { startProxy, type Proxy } from '../../support/network/proxy.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { call, startTestServer, until, type Answer, type TestServer } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus } from '../../support/world.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const requestsOfKind = isLong ? 25 : 4;

/** The limit of `pulse.ts` (7 s), plus a margin for a busy machine. */
const longestAnswerMs = 10_000;
/** The limit of `/readyz` is 2 s. */
const longestReadyMs = 3_000;
/** Time to recover after the database responds again. */
const longestRecoveryMs = 8_000;

async function proxied(t: TestContext): Promise<{ proxy: Proxy; address: DatabaseAddress; direct: DatabaseAddress }> {
  const direct = await cloneDatabase();
  assert.ok(direct.kind === 'socket');
  const proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  t.after(async () => proxy[Symbol.asyncDispose]());
  const { port } = new URL(proxy.url);
  return {
    proxy,
    address: { kind: 'url', url: `postgres://${direct.user}@127.0.0.1:${port}/${direct.database}` },
    direct,
  };
}

type Kind = readonly [name: string, ask: () => Promise<Answer>];

/** One request of every kind. */
function kindsOf(server: TestServer, chat: Engaged): Kind[] {
  const { own, operator, visitor, id, queue } = chat;
  const site = own.siteId;
  const token = own.admin;
  const kind = (name: string, request: string, options: Parameters<typeof call>[2] = { token }): Kind => [
    name,
    async () => call(server, request, options),
  ];
  const form = (): FormData => fileForm('a note');
  return [
    kind('a read from memory', `GET /sites/${site}`),
    kind('a list', 'GET /teams'),
    kind('queues', `GET /queues?site_ids[]=${site}`),
    kind('engagements', `GET /engagements?site_ids[]=${site}`),
    kind('the event log', 'GET /events'),
    kind('the audit log', 'GET /audit_log'),
    kind('a change', 'POST /teams', { token, body: { site_id: site, name: 'T' } }),
    [
      'a change with a key',
      async () =>
        call(server, 'POST /teams', {
          token,
          headers: { 'idempotency-key': randomUUID() },
          body: { site_id: site, name: 'K' },
        }),
    ],
    kind('a turn', 'POST /queue_tickets', {
      token: visitor.token,
      body: { site_id: site, media: 'text', queue_ids: [queue] },
    }),
    kind('presence', `PUT /operators/${operator.id}/presence`, { token: operator.token, body: { available: true } }),
    ['a message', async () => say(chat, visitor, 'hello')],
    kind('a transcript', `GET /engagements/${id}/chat_transcript`, { token: visitor.token }),
    kind('a token', 'POST /operator_authentication/tokens', {
      body: { api_key_id: own.key.id, api_key_secret: own.key.secret },
    }),
    kind('a password', 'POST /operator_authentication/sessions', {
      body: { email: 'a@test', password: 'wrong-password' },
    }),
    ['a file', async () => call(server, `POST /engagements/${id}/files`, { token: visitor.token, body: form() })],
    kind('a feed', 'GET /feed'),
    kind('a webhook', 'POST /webhooks', {
      token,
      body: { url: 'http://127.0.0.1:9/hook', method: 'POST', events: ['engagement.start'] },
    }),
    kind('a visitor', 'POST /visitors', { token, body: { site_id: site } }),
    [
      'an unknown token',
      async () => call(server, 'GET /sites', { token: `ApplicationToken pub_${randomUUID()}.${'x'.repeat(32)}` }),
    ],
  ];
}

interface Timed {
  readonly name: string;
  readonly ms: number;
  readonly answer: Answer;
}

async function timed([name, ask]: Kind): Promise<Timed> {
  const began = performance.now();
  const answer = await ask().catch((error: unknown) => {
    throw new Error(`${name} was not answered`, { cause: error });
  });
  return { name, answer, ms: performance.now() - began };
}

/** Asserts that the response is a 503 with Retry-After, in time. */
function expectSilence({ name, ms, answer }: Timed): void {
  assert.ok(ms < longestAnswerMs, `${name} took ${ms.toFixed(0)} ms`);
  // Cached data is served until the process detects the silence.
  if (answer.status === 200 && (name === 'a read from memory' || name === 'queues')) return;
  assert.equal(answer.status, 503, `${name}: ${JSON.stringify(answer.body)}`);
  assert.equal(answer.body.error, 'database_unavailable', name);
  assert.match(answer.body.detail, /Try again/);
  assert.equal(answer.headers.get('retry-after'), '2', name);
}

async function expectHealth(server: TestServer): Promise<void> {
  const healthy = await timed(['/healthz', async () => call(server, 'GET /healthz')]);
  assert.equal(healthy.answer.status, 200);
  assert.ok(healthy.ms < longestReadyMs);
  const ready = await timed(['/readyz', async () => call(server, 'GET /readyz')]);
  expectStatus(ready.answer, 503);
  assert.ok(ready.ms < longestReadyMs, `/readyz took ${ready.ms.toFixed(0)} ms`);
}

/** Clients that send messages. Each message keeps its id until it is acknowledged. */
class Writers {
  readonly acknowledged: string[] = [];
  #writing = true;
  readonly #running: Promise<void[]>;

  constructor(chat: Engaged, count: number) {
    this.#running = Promise.all(Array.from({ length: count }, async () => this.#write(chat)));
  }

  async #write(chat: Engaged): Promise<void> {
    let id = randomUUID();
    while (this.#writing) {
      const { status } = await say(chat, chat.visitor, 'counted', id);
      if (status === 200) {
        this.acknowledged.push(id);
        id = randomUUID();
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(): Promise<void> {
    this.#writing = false;
    await this.#running;
  }
}

test(
  'every request gets a response while the database is silent, and Usher recovers when the database responds again',
  { timeout: hangMs },
  async (t) => {
    const { proxy, address, direct } = await proxied(t);
    await using server = await startTestServer({ webhookAllowCidrs: ['127.0.0.0/8'] }, address);
    const receiver = await startReceiver();
    t.after(async () => receiver.close());
    const chat = await engage(server);
    await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
    const kinds = kindsOf(server, chat);
    const slowest = new Map<string, number>();
    const writers = new Writers(chat, 4);
    const { acknowledged } = writers;

    const askAll = async (): Promise<void> => {
      const all = kinds.flatMap((kind) => Array.from({ length: requestsOfKind }, async () => timed(kind)));
      const [answers] = await Promise.all([Promise.all(all), expectHealth(server)]);
      for (const each of answers) {
        slowest.set(each.name, Math.max(slowest.get(each.name) ?? 0, each.ms));
        expectSilence(each);
      }
    };
    const recover = async (how: string): Promise<void> => {
      const before = acknowledged.length;
      const began = performance.now();
      proxy.silence(false);
      await until(async () => (await call(server, 'GET /readyz')).status === 200, longestRecoveryMs);
      await until(() => acknowledged.length > before + 4, longestRecoveryMs);
      t.diagnostic(`${how}: writes go on ${(performance.now() - began).toFixed(0)} ms after the database speaks again`);
      await until(() => server.changes.live, longestRecoveryMs);
      for (const [name, ask] of kinds) {
        const { status, body } = await ask();
        assert.ok(status < 500, `${name}: ${status} ${JSON.stringify(body)}`);
      }
    };
    const walk = async (): Promise<void> => {
      await until(() => acknowledged.length > 20);
      proxy.silence(true);
      await askAll();
      for (const { name, ms } of await Promise.all(kinds.map(timed)))
        assert.ok(ms < longestReadyMs, `${name} took ${ms.toFixed(0)} ms, though the process had detected the silence`);
      await recover('open connections');

      // No client is connected, and new connections get no response.
      proxy.silence(true);
      proxy.cut();
      await askAll();
      await recover('new connections');

      await using feed = await openFeed(server, { token: chat.own.admin });
      proxy.silence(true);
      await until(async () => (await call(server, 'GET /readyz')).status === 503);
      if (isLong) await new Promise((resolve) => setTimeout(resolve, 40_000));
      await recover(isLong ? 'after 40 s' : 'with a feed open');
      await using resumed = await openFeed(server, { token: chat.own.admin, lastId: feed.lastId() });
      const marker = expectStatus(await say(chat, chat.visitor, 'marker'), 200).body.id;
      acknowledged.push(marker);
      await resumed.until(({ data }) => JSON.stringify(data).includes(marker));
    };

    try {
      await walk();
    } finally {
      await writers.stop();
    }
    const sql = connect(direct, { max: 1 });
    const stored = new Set((await sql<{ id: string }[]>`SELECT id FROM chat_messages`).map(({ id }) => id));
    await sql.end();
    const lost = acknowledged.filter((id) => !stored.has(id));
    assert.deepEqual(lost, []);
    const isDelivered = (id: string): boolean => receiver.arrived.some(({ body }) => body.includes(id));
    await until(() => acknowledged.every(isDelivered), 60_000);
    for (const [name, ms] of slowest) t.diagnostic(`${name}: answered within ${ms.toFixed(0)} ms`);
    t.diagnostic(`${acknowledged.length} messages were acknowledged, ${lost.length} lost, all delivered`);
  },
);
