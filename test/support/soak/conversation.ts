import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileForm } from '../people/files.ts';
import type { Json } from '../server.ts';
import { overtaken, type Desk, type DeskOperator } from './desk.ts';
import { followFeed } from './follow-feed.ts';

/** In one of how many conversations something happens, and in which of them. Chance would leave something out of a short run. */
const rhythm = {
  watchesFeed: [4, 0],
  transfersToQueue: [10, 1],
  transfersToOperator: [10, 3],
  sendsFile: [5, 2],
  fileIsInfected: [25, 2],
  deletesFile: [15, 7],
  cancels: [20, 5],
  repeatsRequest: [10, 6],
  vanishes: [20, 9],
} as const;

const happens = (what: keyof typeof rhythm, number: number): boolean => {
  const [every, first] = rhythm[what];
  return number % every === first;
};

const chance = (share: number): boolean => Math.random() < share;
const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];

const messages = 8;
export const messageText = 'A message of the usual length, about an order.';
/** How long a visitor waits for an operator before they cancel. */
const patienceMs = 60_000;
const transferPatienceMs = 5_000;

interface Visitor {
  readonly id: string;
  readonly token: string;
}

/** A visitor comes to the page, waits, talks with one or two operators, and leaves. `number` is that of the conversation. */
export async function converse(desk: Desk, number: number): Promise<void> {
  const { traffic } = desk;
  const visitor = await arrive(desk);
  if (visitor === null) return;
  const closing = new AbortController();
  const feed = happens('watchesFeed', number) ? watch(desk, visitor, closing.signal) : Promise.resolve();
  try {
    const talk = await waitForOperator(desk, visitor, number);
    if (talk === null) return;
    const chat = new Chat(desk, visitor, talk);
    traffic.count('conversation');
    await chat.exchange(messages / 2);
    if (happens('sendsFile', number)) await chat.sendFile(number);
    const colleague = chat.colleague();
    if (happens('transfersToQueue', number))
      await chat.transfer('POST /transfer_tickets', { queue_id: pick(desk.queues), media: 'text' });
    else if (happens('transfersToOperator', number) && colleague !== undefined)
      await chat.transfer('POST /transfer_requests', { operator_id: colleague.id });
    await chat.exchange(messages / 2);
    await (happens('vanishes', number) ? chat.vanish() : chat.end());
  } finally {
    closing.abort();
    await feed;
  }
}

async function arrive({ traffic, node, page }: Desk): Promise<Visitor | null> {
  const headers = { 'idempotency-key': randomUUID() };
  const made = await traffic.call(node(), 'POST /visitors', { token: page, body: {}, headers });
  return made === null ? null : { id: made.body.id, token: made.body.access_token };
}

/** A visitor who opens the page and does nothing. */
export async function passBy(desk: Desk): Promise<void> {
  if ((await arrive(desk)) !== null) desk.traffic.count('visitor without a ticket');
}

async function watch(desk: Desk, { token }: Visitor, signal: AbortSignal): Promise<void> {
  desk.traffic.count('feed');
  const onItem = (): void => desk.traffic.count('item of a visitor');
  await followFeed(desk.node(), { token, lastId: '', signal, onItem }).catch((error: unknown) => {
    if (!desk.traffic.isBusy(error)) desk.traffic.reportUnexpected(`feed of a visitor: ${String(error)}`);
  });
}

interface Talk {
  readonly operator: DeskOperator;
  readonly engagementId: string;
}

async function waitForOperator(desk: Desk, visitor: Visitor, number: number): Promise<Talk | null> {
  const { traffic, node, waiting } = desk;
  const { promise, resolve } = Promise.withResolvers<Talk | null>();
  waiting.set(visitor.id, (operator, engagementId) => resolve({ operator, engagementId }));
  const patience = happens('cancels', number) ? 50 : patienceMs;
  const timer = setTimeout(() => resolve(null), patience);
  try {
    const queue = pick(desk.queues);
    const body = { site_id: desk.account.siteId, media: 'text', queue_ids: [queue] };
    const options = { token: visitor.token, body, headers: { 'idempotency-key': randomUUID() } };
    const ticket = await traffic.call(node(), 'POST /queue_tickets', options, overtaken);
    if (ticket === null) return null;
    // A client that lost the answer sends the request again, to any process.
    if (happens('repeatsRequest', number)) await traffic.call(node(), 'POST /queue_tickets', options, overtaken);
    const talk = await promise;
    if (talk !== null) return talk;
    const cancel = { token: visitor.token, body: { action: 'cancel' } };
    const canceled = await traffic.call(node(), `PATCH /queue_tickets/${ticket.body.id}`, cancel, overtaken);
    traffic.count('cancel');
    if (canceled === null) traffic.count('cancel too late');
    return null;
  } finally {
    clearTimeout(timer);
    waiting.delete(visitor.id);
  }
}

class Chat {
  readonly #desk: Desk;
  readonly #visitor: Visitor;
  readonly #id: string;
  #operator: DeskOperator;

  constructor(desk: Desk, visitor: Visitor, { operator, engagementId }: Talk) {
    this.#desk = desk;
    this.#visitor = visitor;
    this.#operator = operator;
    this.#id = engagementId;
  }

  async #send(request: string, who: { readonly token: string }, body?: unknown, refusals: readonly string[] = []) {
    const { traffic, node } = this.#desk;
    return traffic.call(node(), request, { token: who.token, body }, [...overtaken, ...refusals]);
  }

  async exchange(pairs: number): Promise<void> {
    for (let count = 0; count < pairs; count += 1) {
      for (const who of [this.#visitor, this.#operator]) {
        if (count === 0)
          // Who types in an engagement that has just ended is refused with 422.
          await this.#send(`PUT /engagements/${this.#id}/typing_indicator`, who, { typing: true }, ['invalid_request']);
        const path = `/engagements/${this.#id}/chat_messages/${randomUUID()}`;
        const sent = await this.#send(`PUT ${path}`, who, {
          content: 'A message of the usual length, about an order.',
        });
        if (sent !== null) this.#desk.traffic.count('message');
        const reader = who === this.#visitor ? this.#operator : this.#visitor;
        if (sent !== null && chance(0.5)) await this.#send(`PATCH ${path}`, reader, { status: 'delivered' });
        await pause(200 + 400 * Math.random());
      }
    }
  }

  /** Most files are clean and some of these are deleted; of infected ones the bytes are removed. */
  async sendFile(number: number): Promise<void> {
    const { traffic } = this.#desk;
    const path = `/engagements/${this.#id}/files`;
    const uploaded = await this.#send(`POST ${path}`, this.#visitor, fileForm('x'.repeat(2_000)));
    if (uploaded === null) return;
    traffic.count('file');
    const id: string = uploaded.body.file_id;
    const result = happens('fileIsInfected', number) ? 'infected' : 'clean';
    await this.#send(`PUT /files/${id}/security_scan`, { token: await this.#desk.admin() }, { result });
    traffic.count(`file ${result}`);
    if (result === 'infected') return;
    await this.#send(`GET ${path}/${id}`, this.#operator);
    if (happens('deletesFile', number) && (await this.#send(`DELETE ${path}/${id}`, this.#visitor)) !== null)
      traffic.count('file deleted');
  }

  colleague(): DeskOperator | undefined {
    return pick(this.#desk.operators.filter((each) => each !== this.#operator && !each.isAway));
  }

  async transfer(request: string, to: Json): Promise<void> {
    const { waiting, traffic } = this.#desk;
    const { promise, resolve } = Promise.withResolvers<DeskOperator | null>();
    waiting.set(this.#id, (operator) => resolve(operator));
    const timer = setTimeout(() => resolve(null), transferPatienceMs);
    try {
      if ((await this.#send(request, this.#operator, { engagement_id: this.#id, ...to })) === null) return;
      traffic.count('transfer');
      this.#operator = (await promise) ?? this.#operator;
    } finally {
      clearTimeout(timer);
      waiting.delete(this.#id);
    }
  }

  async end(): Promise<void> {
    const who = chance(0.7) ? this.#operator : this.#visitor;
    if ((await this.#send(`PATCH /engagements/${this.#id}`, who, { action: 'end' })) !== null)
      this.#desk.traffic.count('ended');
  }

  /** The visitor's connection is lost: their lease ends, and then the engagement. */
  async vanish(): Promise<void> {
    await this.#send(`PUT /visitors/${this.#visitor.id}/presence`, this.#visitor, { expires_in_sec: 10 });
    this.#desk.traffic.count('visitor left');
  }
}
