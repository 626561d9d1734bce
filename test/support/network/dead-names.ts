import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Engaged } from '../people/chat.ts';
import { say } from '../people/chat.ts';
import { startDns, type TestDns } from './dns.ts';
import { call, type Json, type TestServer } from '../server.ts';
import {
  acceptOffer,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

/** A DNS server that does not answer for names under `.dead.test`; all other names resolve to this machine. */
export async function startDnsWithDeadNames(): Promise<TestDns> {
  return startDns((name) => (name.endsWith('.dead.test') ? 'silent' : { v4: ['127.0.0.1'], ttlSec: 5 }));
}

/** An account with one operator, who takes up to 100 visitors, and the publishable token of its page. */
export interface Page {
  readonly server: ServerHandle;
  readonly own: TestAccount;
  readonly queue: string;
  readonly operator: TestOperator;
  readonly token: string;
}

export async function makePage(server: TestServer): Promise<Page> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { capacity_policy: { type: 'fixed', capacity: 200 } });
  const operator = await makeAvailableOperator(server, own);
  const body = { max_engagement_count: 100 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  return { server, own, queue, operator, token: header };
}

/** Creates a visitor from that IP address, as the page does. */
export async function openPage({ server, token }: Page, address: string): Promise<TestVisitor> {
  const headers = { 'x-forwarded-for': address };
  const { id, access_token } = expectStatus(
    await call(server, 'POST /visitors', { token, headers, body: {} }),
    200,
  ).body;
  return { id, token: access_token };
}

/** Creates a ticket with webhooks to these hosts. */
export async function requestTicketWithWebhooks(
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

/** Starts an engagement whose ticket had webhooks to these hosts. */
export async function engageWithWebhooks(page: Page, address: string, hosts: readonly string[]): Promise<Engaged> {
  const { server, own, operator, queue } = page;
  const visitor = await openPage(page, address);
  expectStatus(await requestTicketWithWebhooks(page, visitor, address, hosts), 201);
  return { server, own, operator, visitor, queue, id: await acceptOffer(server, operator) };
}

/** Receives webhooks for any number of host names and measures how long after its message each arrives. */
export interface Receivers {
  readonly port: number;
  /** One entry for each host that a message of `sendMeasured` has reached so far. */
  readonly latenciesMs: number[];
  /** Sends a message that is delivered to this many hosts. */
  sendMeasured(chat: Engaged, hosts: number): Promise<void>;
  /** The number of deliveries that have not arrived yet. */
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
      const sentAtMs = sentAt.get(event.message?.id ?? '');
      if (sentAtMs !== undefined) latenciesMs.push(at - sentAtMs);
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
