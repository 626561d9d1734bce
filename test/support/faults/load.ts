import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Engaged } from '../people/chat.ts';
import { keepReading } from '../people/feed-reader.ts';
import { openEngagements } from '../receivers/ordered-load.ts';
import { startReceiver, type Receiver } from '../receivers/receiver.ts';
import { startProxy, type Proxy } from '../network/proxy.ts';
import { until } from '../server.ts';
import { makeAvailableOperator, makeVisitor, type TestOperator, type TestVisitor } from '../world.ts';
import { makeWebhook } from '../receivers/webhooks.ts';
import { Client, openClientPool, type ClientPool, type Failure } from './client.ts';
import { changeOf, Ledgers, type Verdict } from './ledgers.ts';
import type { FaultWorld } from './world.ts';

/** Engagements in which both sides write until the end. */
const chats = 4;
/** Visitors who enter the queue again and again, and operators who serve them. */
const visitors = 3;
const operators = 2;
const writerPauseMs = 150;
const visitorPauseMs = 300;
const operatorPauseMs = 75;
/** An operator who missed an offer is unavailable, so operators say now and then that they are there. */
const presenceMs = 1_000;
/** Retries of a delivery follow after 5, 30 and 120 s. */
const settleMs = 180_000;

/** Clients that work on a service with faults, and the ledgers of what they and others see. */
export class Load {
  readonly ledgers: Ledgers;
  /** What leads to the receiver of webhooks. */
  readonly receiver: Proxy;
  readonly #receiver: Receiver;
  readonly #pool: ClientPool;
  readonly #own: Engaged['own'];
  readonly #clientsOver: AbortController;
  readonly #readersOver: AbortController;
  readonly #clients: Promise<unknown>;
  readonly #readers: Promise<number[]>;

  private constructor(people: People, opened: Opened) {
    this.ledgers = opened.ledgers;
    this.receiver = opened.proxy;
    this.#receiver = opened.receiver;
    this.#pool = people.pool;
    this.#own = people.own;
    this.#clientsOver = opened.clientsOver;
    this.#readersOver = opened.readersOver;
    this.#readers = opened.readers;
    this.#clients = work(people, opened.ledgers);
    // Awaited in `end`. A fault that fails is reported first.
    this.#clients.catch(() => undefined);
  }

  /** `chatsOnly`: nobody enters the queue. Engagements that begin during the load may be lost with asynchronous replication. */
  static async start(world: FaultWorld, { chatsOnly = false } = {}): Promise<Load> {
    const clientsOver = new AbortController();
    const readersOver = new AbortController();
    const server = await world.untilReady();
    const [first, ...others] = await openEngagements(server, chats);
    assert.ok(first);
    const { own, queue } = first;
    const counts = chatsOnly ? { visitors: 0, operators: 0 } : { visitors, operators };
    const served: TestVisitor[] = [];
    while (served.length < counts.visitors) served.push(await makeVisitor(server, own));
    const serving: TestOperator[] = [];
    while (serving.length < counts.operators) serving.push(await makeAvailableOperator(server, own));
    const ledgers = new Ledgers(world.slots.length);
    const receiver = await startReceiver();
    receiver.answer = ({ event }) => {
      const change = changeOf(event.event_type, event);
      if (change !== null) ledgers.receiver.record(change);
      return 200;
    };
    const proxy = await startProxy(receiver);
    const url = `http://${world.receiverHost}:${new URL(proxy.url).port}/hook`;
    const events = ['engagement.start', 'engagement.chat.message', 'engagement.end'];
    await makeWebhook(server, own, { url, events });
    let open = 0;
    const readers = ledgers.feeds.map(async (ledger, index) =>
      keepReading(
        {
          findServer: () => world.reach(index),
          token: own.admin,
          onOpen: () => (open += 1),
          onItem({ type, data }) {
            const change = changeOf(type, data);
            if (change !== null) ledger.record(change);
          },
        },
        readersOver.signal,
      ),
    );
    await until(() => open === readers.length);
    const pool = openClientPool(world, clientsOver.signal);
    return new Load(
      { pool, own, queue, chats: [first, ...others], visitors: served, operators: serving },
      { ledgers, receiver, proxy, clientsOver, readersOver, readers: Promise.all(readers) },
    );
  }

  get failures(): ReadonlyMap<Failure, number> {
    return this.#pool.failures;
  }

  /** The number of failed requests. */
  get failed(): number {
    return this.failures.values().reduce((sum, count) => sum + count, 0);
  }

  /** Waits until this many more changes are acknowledged. A client that got a wrong answer ends the wait. */
  async goesOn(changes: number): Promise<void> {
    const { acknowledged } = this.ledgers;
    const going = until(() => this.ledgers.acknowledged >= acknowledged + changes, settleMs);
    await Promise.race([going, this.#clients]);
    await going;
  }

  /** The token of somebody who may do everything. */
  get adminToken(): string {
    return this.#own.admin;
  }

  /** Waits until these changes, by default all that are acknowledged by now, have arrived at the receiver and on the feeds. */
  async catchesUp(changes: readonly string[] = this.ledgers.snapshot()): Promise<void> {
    let missing: readonly string[] = [];
    const haveArrived = until(() => (missing = this.ledgers.missing(changes)).length === 0, settleMs);
    await haveArrived.catch((cause: unknown) => {
      throw new Error(`${missing.length} changes have not arrived: ${missing.slice(0, 20).join(', ')}`, { cause });
    });
  }

  /** Stops the clients, waits until everything acknowledged has arrived, and compares the ledgers. */
  async end(): Promise<Verdict & { readonly resets: number }> {
    this.#clientsOver.abort();
    await this.#clients;
    // What is missing in the end is in the verdict.
    await this.catchesUp().catch(() => undefined);
    this.#readersOver.abort();
    const resets = (await this.#readers).reduce((sum, count) => sum + count, 0);
    const verdict = this.ledgers.judge(await this.#pool.world.readStored(this.#own));
    return { ...verdict, resets };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#clientsOver.abort();
    this.#readersOver.abort();
    await this.#clients.catch(() => undefined);
    await this.#pool.agent.destroy();
    await this.receiver[Symbol.asyncDispose]();
    await this.#receiver.close();
  }
}

interface People {
  readonly pool: ClientPool;
  readonly own: Engaged['own'];
  readonly queue: string;
  readonly chats: readonly Engaged[];
  readonly visitors: readonly TestVisitor[];
  readonly operators: readonly TestOperator[];
}

interface Opened {
  readonly ledgers: Ledgers;
  readonly receiver: Receiver;
  readonly proxy: Proxy;
  readonly clientsOver: AbortController;
  readonly readersOver: AbortController;
  readonly readers: Promise<number[]>;
}

async function work(people: People, ledgers: Ledgers): Promise<void> {
  const writers = people.chats.flatMap(({ id, visitor, operator }) =>
    [visitor, operator].map(({ token }) => ({ id, token })),
  );
  /** The visitors whose engagement has ended, so that they may enter the queue again. */
  const free = new Set(people.visitors.map(({ id }) => id));
  await Promise.all([
    ...writers.map(async (writer, lane) => write(new Client(people.pool), { ...writer, lane }, ledgers)),
    ...people.visitors.map(async (visitor) =>
      enterAgain(new Client(people.pool), { ...people, visitor, free }, ledgers),
    ),
    ...people.operators.map(async (operator) => serve(new Client(people.pool), { operator, free }, ledgers)),
  ]);
}

interface Writer {
  readonly id: string;
  readonly token: string;
  readonly lane: number;
}

/** Sends one message after the other. A message that is sent again keeps its id. */
async function write(client: Client, { id, token, lane }: Writer, ledgers: Ledgers): Promise<void> {
  for (let number = 0; !client.isOver; number += 1) {
    const content = `${lane} ${number}`;
    const what = `PUT /engagements/${id}/chat_messages/${randomUUID()}`;
    const answer = await client.ask(what, { token, body: { content } });
    if (answer === null) return;
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    ledgers.acknowledge(content);
    await client.pause(writerPauseMs * (0.5 + Math.random()));
  }
}

interface ReturningVisitor {
  readonly own: Engaged['own'];
  readonly queue: string;
  readonly visitor: TestVisitor;
  readonly free: Set<string>;
}

async function enterAgain(
  client: Client,
  { own, queue, visitor, free }: ReturningVisitor,
  ledgers: Ledgers,
): Promise<void> {
  const body = { site_id: own.siteId, media: 'text', queue_ids: [queue] };
  while (!client.isOver) {
    await client.pause(visitorPauseMs * (0.5 + Math.random()));
    if (!free.delete(visitor.id)) continue;
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await client.ask('POST /queue_tickets', { token: visitor.token, headers, body });
    if (answer === null) return;
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    ledgers.acknowledgeTicket(answer.body.id);
  }
}

interface ServingOperator {
  readonly operator: TestOperator;
  readonly free: Set<string>;
}

/** Accepts an offer, writes a message, ends the engagement, and looks for the next offer. */
async function serve(client: Client, { operator, free }: ServingOperator, ledgers: Ledgers): Promise<void> {
  const { id: operatorId, token } = operator;
  let availableAt = performance.now();
  while (!client.isOver) {
    const offers = await client.ask('GET /engagement_requests?state=pending', { token });
    if (offers === null) return;
    assert.equal(offers.status, 200, JSON.stringify(offers.body));
    const [offer] = offers.body.engagement_requests;
    if (offer === undefined) {
      if (performance.now() - availableAt > presenceMs) {
        await client.ask(`PUT /operators/${operatorId}/presence`, { token, body: { available: true } });
        availableAt = performance.now();
      }
      await client.pause(operatorPauseMs);
      continue;
    }
    const accept = { token, body: { action: 'accept' } };
    const accepted = await client.ask(`PATCH /engagement_requests/${offer.id}`, accept);
    // The offer expired while the service was out.
    if (accepted?.status !== 200) continue;
    const id: string = accepted.body.engagement_id;
    ledgers.acknowledge(`${id} 0`);
    const message = { token, body: { content: `${id} 1` } };
    const sent = await client.ask(`PUT /engagements/${id}/chat_messages/${randomUUID()}`, message);
    if (sent === null) return;
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    ledgers.acknowledge(`${id} 1`);
    const ended = await client.ask(`PATCH /engagements/${id}`, { token, body: { action: 'end' } });
    if (ended === null) return;
    // 409: it was ended by a request whose answer was lost.
    assert.ok(ended.status === 200 || ended.status === 409, JSON.stringify(ended.body));
    ledgers.acknowledge(`${id} 2`);
    free.add(offer.visitor_id);
  }
}
