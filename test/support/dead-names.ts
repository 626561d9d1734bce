import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Engaged } from './chat.ts';
import { say } from './chat.ts';
import { startDns, type TestDns } from './dns.ts';
import { call, type Json, type TestServer } from './server.ts';
import {
  acceptOffer,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makePresent,
  makeQueue,
  type Reached,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from './world.ts';

/** Names under `.dead.test` are not answered for; all others are this machine. */
export async function startDnsWithDeadNames(): Promise<TestDns> {
  return startDns((name) => (name.endsWith('.dead.test') ? 'silent' : { v4: ['127.0.0.1'], ttlSec: 5 }));
}

/** One account with one operator, who has as many visitors as there are, and the token that its page carries. */
export interface Page {
  readonly server: Reached;
  readonly own: TestAccount;
  readonly queue: string;
  readonly operator: TestOperator;
  readonly token: string;
}

export async function makePage(server: TestServer): Promise<Page> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { capacity_policy: { type: 'fixed', capacity: 200 } });
  const operator = await makePresent(server, own);
  const body = { max_engagement_count: 100 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  return { server, own, queue, operator, token: header };
}

/** A visitor who opens the page at that address. */
export async function visit({ server, token }: Page, address: string): Promise<TestVisitor> {
  const headers = { 'x-forwarded-for': address };
  const { id, access_token } = expectStatus(
    await call(server, 'POST /visitors', { token, headers, body: {} }),
    200,
  ).body;
  return { id, token: access_token };
}

/** Asks for a place in the queue, with webhooks to these hosts. */
export async function bring(
  page: Page,
  visitor: TestVisitor,
  address: string,
  hosts: readonly string[],
): Promise<Json> {
  const events = ['engagement.start', 'engagement.chat.message'];
  const webhooks = hosts.map((host) => ({ url: `http://${host}/hook`, method: 'POST', events }));
  const body = { site_id: page.own.siteId, media: 'text', queue_ids: [page.queue], webhooks };
  return call(page.server, 'POST /queue_tickets', {
    token: visitor.token,
    headers: { 'x-forwarded-for': address },
    body,
  });
}

/** An engagement whose visitor has brought along webhooks to these hosts. */
export async function engageWith(page: Page, address: string, hosts: readonly string[]): Promise<Engaged> {
  const { server, own, operator, queue } = page;
  const visitor = await visit(page, address);
  expectStatus(await bring(page, visitor, address, hosts), 201);
  return { server, own, operator, visitor, queue, id: await acceptOffer(server, operator) };
}

/** Takes webhooks for any number of names, and tells how long after its message each has arrived. */
export interface Receivers {
  readonly port: number;
  /** One for each host that a message of `sendMeasured` has reached, so far. */
  readonly latenciesMs: number[];
  /** Sends a message, of which so many hosts are told. */
  sendMeasured(chat: Engaged, hosts: number): Promise<void>;
  /** Of messages that were sent, and not yet arrived. */
  readonly missing: () => number;
  close(): Promise<void>;
}

export async function startReceivers(): Promise<Receivers> {
  const sentAt = new Map<string, number>();
  const latenciesMs: number[] = [];
  let expected = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      const event: Json = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const begun = sentAt.get(event.message?.id ?? '');
      if (begun !== undefined) latenciesMs.push(at - begun);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    latenciesMs,
    missing: () => expected - latenciesMs.length,
    async sendMeasured(chat, hosts) {
      const id = randomUUID();
      expected += hosts;
      sentAt.set(id, performance.now());
      expectStatus(await say(chat, chat.visitor, 'Hello', id), 200);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
