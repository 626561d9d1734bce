import type { LookupFunction } from 'node:net';
import type { Config } from '../../../config.ts';
import type { ApnsTarget } from './url.ts';
import type { Sealer } from '../../../identity/sealer.ts';
import { BoundedMap } from '../../../platform/bounded-map.ts';
import type { Sql } from '../../../platform/database.ts';
import { storable, type Attempt } from '../attempt.ts';
import type { OutgoingEvent } from '../channel.ts';
import { ruleOn, type Ruling } from './answers.ts';
import { ApnsConnection } from './connection.ts';
import { defaultApnsLimits, type ApnsLimits } from './limits.ts';
import { bodyOf, headersOf } from './notification.ts';
import { ProviderTokens, type ProviderToken } from './provider-token.ts';
import type { Reply } from './session.ts';

interface SenderOptions {
  readonly settings: Config['apns'];
  readonly sql: Sql;
  readonly sealer: Sealer;
  /** Whom to trust, in PEM, instead of the usual authorities. */
  readonly ca?: string;
  /** How Apple's name is resolved; left out, by the system. */
  readonly lookup?: LookupFunction;
  readonly limits?: Partial<ApnsLimits>;
}

export interface ApnsDelivery {
  readonly target: ApnsTarget;
  /** When the webhook was given that device token. */
  readonly registeredAt: Date;
  readonly event: OutgoingEvent;
}

type Outcome = Omit<Attempt, 'durationMs'>;

/** What Usher is known by to Apple, at work. */
interface Credential {
  readonly tokens: ProviderTokens;
  readonly connections: Readonly<Record<ApnsTarget['environment'], ApnsConnection>>;
}

/** Environments and topics that rest. One more makes the oldest be tried again. */
const mostPaused = 10_000;
const retryAfterForm = /^\d{1,6}$/;

const unset = 'Usher has no key for Apple: set USHER_APNS_KEY_FILE, USHER_APNS_KEY_ID and USHER_APNS_TEAM_ID';

/** Sends events as push notifications. */
export class ApnsSender {
  readonly #credential: Credential | null;
  readonly #limits: ApnsLimits;
  /**
   * Since when, and why: by environment and topic, as a key may be good for some of them only, and topics are whatever
   * somebody who registers a webhook writes.
   */
  readonly #paused: BoundedMap<string, { readonly until: number; readonly why: string }>;

  constructor({ settings, sql, sealer, ca, lookup, limits }: SenderOptions) {
    this.#limits = { ...defaultApnsLimits, ...limits };
    this.#paused = new BoundedMap(mostPaused);
    const connect = (url: string) => new ApnsConnection({ url, ca, lookup, limits: this.#limits });
    this.#credential = settings && {
      tokens: new ProviderTokens(settings, sql, sealer),
      connections: { sandbox: connect(settings.sandboxUrl), production: connect(settings.productionUrl) },
    };
  }

  /** Connections, those that are being made or drained among them. */
  get openSessions(): number {
    return this.#sum((connection) => connection.sessions);
  }

  get streamsInFlight(): number {
    return this.#sum((connection) => connection.streams);
  }

  get waiting(): number {
    return this.#sum((connection) => connection.waiting);
  }

  /** Environments and topics that rest. */
  get paused(): number {
    const now = performance.now();
    return [...this.#paused.values()].filter(({ until }) => until > now).length;
  }

  /** Never rejects. */
  async send(delivery: ApnsDelivery): Promise<Attempt> {
    const startedAt = performance.now();
    const outcome = await this.#attempt(delivery);
    return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Cuts off what is under way. */
  close(): void {
    for (const connection of this.#connections()) connection.close();
  }

  async #attempt(delivery: ApnsDelivery): Promise<Outcome> {
    if (this.#credential === null) return nobody(unset);
    const paused = this.#pauseOf(delivery.target);
    // Only this topic rests: that is no reason to leave others of the account alone.
    if (paused !== null) return { ...nobody(paused), unavailable: false };
    try {
      const { tokens } = this.#credential;
      const token = await tokens.current();
      const first = await this.#exchange(this.#credential, delivery, token);
      if (first.credential !== 'renew') return first.outcome;
      const fresh = await tokens.renew(token);
      if (fresh === null) return this.#pause(delivery, first.outcome);
      const second = await this.#exchange(this.#credential, delivery, fresh);
      return second.credential === 'renew' ? this.#pause(delivery, second.outcome) : second.outcome;
    } catch (error) {
      // The database is away, or there is a fault of ours; Apple was not asked.
      return nobody(`The token for Apple could not be had (${nameOf(error)})`);
    }
  }

  async #exchange(
    { connections }: Credential,
    delivery: ApnsDelivery,
    token: ProviderToken,
  ): Promise<{ readonly outcome: Outcome; readonly credential: Ruling['credential'] }> {
    const { target, event, registeredAt } = delivery;
    const headers = { ...headersOf(target, event, new Date()), authorization: `bearer ${token.jwt}` };
    const request = { headers, body: bodyOf(target, event) };
    const reply = await connections[target.environment].send(request, () => this.#pauseOf(target));
    if (reply.kind !== 'answered') return { outcome: unanswered(reply), credential: 'keep' };
    const ruling = ruleOn({ status: reply.status, body: reply.body.toString('utf8'), registeredAt });
    if (ruling.retire) reply.via.retire(ruling.error ?? '');
    else reply.via.prove();
    const outcome = outcomeOf(reply, ruling);
    if (ruling.credential === 'pause') this.#pause(delivery, outcome);
    return { outcome, credential: ruling.credential };
  }

  #pause({ target }: ApnsDelivery, outcome: Outcome): Outcome {
    const why = outcome.error ?? '';
    this.#paused.delete(keyOf(target));
    this.#paused.set(keyOf(target), { until: performance.now() + this.#limits.pauseMs, why });
    return outcome;
  }

  #pauseOf(target: ApnsTarget): string | null {
    const pause = this.#paused.get(keyOf(target));
    if (pause === undefined) return null;
    const restMs = pause.until - performance.now();
    if (restMs > 0) return `${pause.why}; nothing is sent for another ${Math.ceil(restMs / 1000)} s`;
    this.#paused.delete(keyOf(target));
    return null;
  }

  #connections(): readonly ApnsConnection[] {
    return this.#credential === null ? [] : Object.values(this.#credential.connections);
  }

  #sum(count: (connection: ApnsConnection) => number): number {
    return this.#connections().reduce((sum, connection) => sum + count(connection), 0);
  }
}

function keyOf({ environment, topic }: ApnsTarget): string {
  return `${environment} ${topic}`;
}

function nobody(error: string): Outcome {
  return { verdict: 'failed', unavailable: true, status: null, answer: null, error, retryAfterMs: null };
}

function unanswered({ error, ...reply }: Exclude<Reply, { kind: 'answered' }>): Outcome {
  if (reply.kind === 'unsent') return nobody(error);
  return { ...nobody(error), status: reply.status, answer: reply.body && storable(reply.body) };
}

function outcomeOf({ status, body, retryAfter }: Extract<Reply, { kind: 'answered' }>, ruling: Ruling): Outcome {
  const { verdict, unavailable, error } = ruling;
  const asked = retryAfter !== null && retryAfterForm.test(retryAfter) ? Number(retryAfter) * 1000 : null;
  return {
    verdict,
    unavailable,
    status,
    answer: storable(body),
    error,
    retryAfterMs: verdict === 'failed' ? (asked ?? ruling.retryAfterMs) : null,
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.message;
}
