import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../server.ts';
import {
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeQueue,
  expectStatus,
  setPresence,
  signIn,
  type ServerHandle,
  type TestAccount,
} from '../world.ts';
import { call } from '../server.ts';
import { followFeed } from './follow-feed.ts';
import type { Traffic } from './traffic.ts';

/** What happened meanwhile, so that an answer came too late. */
export const overtaken = [
  'request_ended',
  'ticket_ended',
  'already_engaged',
  'engagement_ended',
  'transfer_pending',
  'queue_full',
  'operator_unavailable',
  'forbidden',
  'not_found',
];

/** Chooses a process for each request, as a load balancer does. */
export type ChooseNode = () => ServerHandle;

const operatorsPerDesk = 4;
/** A token lasts an hour. */
const renewTokenMs = 15 * 60_000;
/** Feeds are opened again after about this time. */
const feedMs = 120_000;
/** How long somebody who leaves stays away: longer than their lease and the grace period after it. */
const awayMs = 75_000;

/** Of the offers of a desk, every so many are declined, and every so many are not answered at all. All others are accepted. */
const offers = { declined: 8, ignored: 100 };

/** One account with its operators, who work as long as the desk is open. */
export class Desk {
  readonly account: TestAccount;
  readonly queues: readonly string[];
  /** The Authorization header of the page. */
  readonly page: string;
  readonly operators: readonly DeskOperator[];
  readonly traffic: Traffic;
  readonly node: ChooseNode;
  /** The offers so far. */
  offers = 0;
  /** Who waits for an operator, by the id of the visitor or of the engagement. */
  readonly waiting = new Map<string, (operator: DeskOperator, engagementId: string) => void>();

  private constructor(fields: Pick<Desk, 'account' | 'queues' | 'page' | 'traffic' | 'node'>) {
    this.account = fields.account;
    this.queues = fields.queues;
    this.page = fields.page;
    this.traffic = fields.traffic;
    this.node = fields.node;
    this.operators = Array.from({ length: operatorsPerDesk }, () => new DeskOperator(this));
  }

  static async open(traffic: Traffic, node: ChooseNode): Promise<Desk> {
    const server = node();
    const account = await makeAccount(server);
    const limits = { new_visitors_per_minute: 10_000, open_tickets_per_address: 10_000, open_feeds_per_address: 1_000 };
    const changed = await call(server, `PATCH /sites/${account.siteId}`, {
      token: account.admin,
      body: { visitor_limits: limits },
    });
    expectStatus(changed, 200);
    const queues: string[] = [];
    for (const name of ['Sales', 'Support'])
      queues.push(await makeQueue(server, account, { name, when_unstaffed: 'accept' }));
    const { header: page } = await makeApplicationToken(server, account, 'publishable');
    const desk = new Desk({ account, queues, page, traffic, node });
    for (const operator of desk.operators) await operator.begin();
    return desk;
  }

  /** The token of the super_manager, who signs in again before it expires. */
  async admin(): Promise<string> {
    if (performance.now() - this.#signedInAt > renewTokenMs) {
      this.#signedInAt = performance.now();
      this.#admin = await signIn(this.node(), this.account.key);
    }
    return this.#admin ?? this.account.admin;
  }

  async close(): Promise<void> {
    await Promise.all(this.operators.map(async (operator) => operator.end()));
  }

  #admin: string | null = null;
  #signedInAt = performance.now();
}

/** An operator who follows a feed and answers the offers in it. */
export class DeskOperator {
  id = '';
  token = '';
  readonly #desk: Desk;
  readonly #ended = new AbortController();
  #key = { id: '', secret: '' };
  #feed = new AbortController();
  #signedInAt = 0;
  #awayUntil = 0;
  #openedAt = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async begin(): Promise<void> {
    const { account, node } = this.#desk;
    const made = await makeOperator(node(), account, [{ site_id: account.siteId, role: 'operator' }]);
    this.id = made.id;
    this.token = made.token;
    this.#key = made.key;
    this.#signedInAt = performance.now();
    const body = { max_engagement_count: 4 };
    expectStatus(await call(node(), `PATCH /operators/${this.id}`, { token: account.admin, body }), 200);
    await setPresence(node(), this, { expires_in_sec: 30 });
    this.#running = this.#work();
  }

  async end(): Promise<void> {
    this.#ended.abort();
    this.#feed.abort();
    await this.#running;
  }

  /** Loses the connection, for longer than the lease lasts. */
  leave(): void {
    this.#desk.traffic.count('operator left');
    this.#awayUntil = performance.now() + awayMs;
    this.#feed.abort();
  }

  get isAway(): boolean {
    return performance.now() < this.#awayUntil;
  }

  async #work(): Promise<void> {
    const { signal } = this.#ended;
    let lastId = '';
    while (!signal.aborted) {
      try {
        if (this.isAway) await pause(this.#awayUntil - performance.now(), undefined, { signal });
        if (performance.now() - this.#signedInAt > renewTokenMs) await this.#signInAgain();
        await setPresence(this.#desk.node(), this, { expires_in_sec: 30 });
        this.#feed = new AbortController();
        const closing = AbortSignal.any([
          signal,
          this.#feed.signal,
          AbortSignal.timeout(Math.round(feedMs * (0.5 + Math.random()))),
        ]);
        this.#desk.traffic.count('feed');
        this.#openedAt = Date.now();
        const onItem = (type: string, data: Json): void => this.#onItem(type, data);
        lastId = await followFeed(this.#desk.node(), { token: this.token, lastId, signal: closing, onItem });
      } catch (error) {
        const { traffic } = this.#desk;
        if (!signal.aborted && !traffic.isBusy(error)) traffic.reportUnexpected(`feed: ${String(error)}`);
        await pause(1_000, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #signInAgain(): Promise<void> {
    this.token = await signIn(this.#desk.node(), this.#key);
    this.#signedInAt = performance.now();
    this.#desk.traffic.count('operator token');
  }

  #onItem(type: string, data: Json): void {
    // What happened before the feed was opened was not delayed by it.
    const dispatchedAt = Date.parse(data.dispatched_at);
    if (dispatchedAt > this.#openedAt) this.#desk.traffic.record('feed', Date.now() - dispatchedAt);
    if (data.state !== 'pending' || data.operator_id !== this.id) return;
    if (type === 'engagement_request.state') void this.#guard(async () => this.#answerOffer(data));
    if (type === 'transfer_request.state') void this.#guard(async () => this.#acceptTransfer(data));
  }

  /** Runs while the operator reads on. */
  async #guard(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#desk.traffic.reportUnexpected(String(error));
    });
  }

  async #answerOffer({ id, visitor_id: visitorId }: Json): Promise<void> {
    const { traffic, node, waiting } = this.#desk;
    this.#desk.offers += 1;
    const number = this.#desk.offers;
    if (number % offers.ignored === 0) {
      traffic.count('offer ignored');
      return;
    }
    await pause(100 + 400 * Math.random());
    const action = number % offers.declined === 0 ? 'decline' : 'accept';
    const request = `PATCH /engagement_requests/${id}`;
    const answer = await traffic.call(node(), request, { token: this.token, body: { action } }, overtaken);
    if (answer === null) return;
    traffic.count(`offer ${action}`);
    if (action === 'accept') waiting.get(visitorId)?.(this, answer.body.engagement_id);
  }

  async #acceptTransfer({ id, engagement_id: engagementId }: Json): Promise<void> {
    await pause(100 + 200 * Math.random());
    const { traffic, node, waiting } = this.#desk;
    const request = `PATCH /transfer_requests/${id}`;
    const answer = await traffic.call(node(), request, { token: this.token, body: { action: 'accept' } }, overtaken);
    if (answer === null) return;
    traffic.count('transfer accept');
    waiting.get(engagementId)?.(this, engagementId);
  }
}
