import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Engaged } from '../people/chat.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
} from '../world.ts';

/** The content of a message: the number of its writer, and its number among the messages of that writer. */
const contentOf = (writer: number, number: number): string => `${writer} ${number}`;

/**
 * Checks that the messages of each writer arrive in the order they were sent. A writer sends its next message when the last
 * one was acknowledged, so a message that arrives for the first time after a later one of the same writer is displaced.
 */
export class OrderLedger {
  readonly #highest = new Map<string, { readonly number: number; readonly at: number }>();
  readonly #arrived = new Set<string>();
  /** Which messages were displaced, and how long after a later one of their writer they arrived. */
  readonly overtaken: { readonly content: string; readonly lateMs: number }[] = [];
  repeated = 0;
  get displaced(): number {
    return this.overtaken.length;
  }

  get worstDelayMs(): number {
    return Math.max(0, ...this.overtaken.map(({ lateMs }) => lateMs));
  }

  get arrived(): number {
    return this.#arrived.size;
  }

  record(content: string): void {
    if (this.#arrived.has(content)) {
      this.repeated += 1;
      return;
    }
    this.#arrived.add(content);
    const [writer = '', number = ''] = content.split(' ');
    const highest = this.#highest.get(writer);
    if (highest === undefined || Number(number) > highest.number) {
      this.#highest.set(writer, { number: Number(number), at: performance.now() });
    } else {
      this.overtaken.push({ content, lateMs: performance.now() - highest.at });
    }
  }

  missing(acknowledged: Iterable<string>): string[] {
    return [...acknowledged].filter((content) => !this.#arrived.has(content));
  }

  /** What has arrived here and not in the other ledger. */
  notIn(other: OrderLedger): string[] {
    return other.missing(this.#arrived);
  }
}

/** Opens `count` engagements in one account, each with a visitor and an operator. */
export async function openEngagements(server: ServerHandle, count: number): Promise<Engaged[]> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const engagements: Engaged[] = [];
  while (engagements.length < count) {
    const operator = await makeAvailableOperator(server, own);
    const ticket = await requestTicket(server, own, { queue_ids: [queue] });
    expectStatus(ticket, 201);
    engagements.push({
      server,
      own,
      operator,
      visitor: ticket.visitor,
      id: await acceptOffer(server, operator),
      queue,
    });
  }
  return engagements;
}

interface Load {
  readonly seconds: number;
  /** Messages per second of all writers together. Without it each writer sends its next message right after the answer. */
  readonly perSecond?: number;
  /** Whether a message that was not acknowledged is sent again, as clients do while the database is down. */
  readonly retry?: boolean;
  /** Ends the load early. */
  readonly signal?: AbortSignal;
}

/**
 * Both sides of every engagement write concurrently, and each waits for the 200 before its next message. Returns the contents
 * of all acknowledged messages. A message that is sent again keeps its id.
 */
export async function writeInOrder(engagements: readonly Engaged[], load: Load): Promise<ReadonlySet<string>> {
  const writers = engagements.flatMap((engaged) => [
    { engaged, token: engaged.visitor.token },
    { engaged, token: engaged.operator.token },
  ]);
  const acknowledged = new Set<string>();
  const began = performance.now();
  const gapMs = load.perSecond === undefined ? 0 : (writers.length * 1_000) / load.perSecond;
  await Promise.all(
    writers.map(async ({ engaged, token }, writer) => {
      const pool = new Pool(engaged.server.url, { connections: 1 });
      const isOver = (): boolean => load.signal?.aborted === true || performance.now() - began > load.seconds * 1_000;
      for (let number = 0; !isOver(); number += 1) {
        const lateMs = performance.now() - began - number * gapMs;
        if (gapMs > 0 && lateMs < 0) await pause(-lateMs);
        const content = contentOf(writer, number);
        await send(pool, { engagementId: engaged.id, token, content, insist: load.retry === true });
        acknowledged.add(content);
      }
      await pool.destroy();
    }),
  );
  return acknowledged;
}

const maxTries = 1_200;

async function send(
  pool: Pool,
  { engagementId, token, content, insist }: { engagementId: string; token: string; content: string; insist: boolean },
): Promise<void> {
  const path = `/engagements/${engagementId}/chat_messages/${randomUUID()}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ content });
  let last = '';
  for (let tries = 0; tries < (insist ? maxTries : 1); tries += 1) {
    try {
      const answer = await pool.request({ method: 'PUT', path, headers, body });
      const text = await answer.body.text();
      if (answer.statusCode === 200) return;
      last = `${answer.statusCode} ${text}`;
      if (answer.statusCode < 500) break;
    } catch (error) {
      last = String(error);
    }
    await pause(50);
  }
  throw new Error(`the message was not acknowledged: ${last}`);
}

/** A webhook receiver that records every message in a ledger and answers after `delayMs`. */
export async function startLedgerReceiver(
  ledger: OrderLedger,
  delayMs = 0,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const event: { message: { content: string } } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      ledger.record(event.message.content);
      if (delayMs === 0) response.writeHead(200).end();
      else setTimeout(() => response.writeHead(200).end(), delayMs);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
