import type { LookupFunction } from 'node:net';
import type { Config } from '../../config.ts';
import type { ApnsTarget } from './url.ts';
import type { Sealer } from '../../identity/sealer.ts';
import { BoundedMap } from '../../platform/bounded-map.ts';
import type { Sql } from '../../platform/database/database.ts';
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
  /** Certificate authorities to trust instead of the default ones, in PEM. */
  readonly ca?: string;
  /** Resolves Apple's host name; default: the system's resolver. */
  readonly lookup?: LookupFunction;
  readonly limits?: Partial<ApnsLimits>;
}

export interface ApnsDelivery {
  readonly target: ApnsTarget;
  /** When the webhook was given this device token. */
  readonly registeredAt: Date;
  readonly event: OutgoingEvent;
}

type Outcome = Omit<Attempt, 'durationMs'>;

/** Our tokens for Apple and the connections that use them. */
interface Credential {
  readonly tokens: ProviderTokens;
  readonly connections: Readonly<Record<ApnsTarget['environment'], ApnsConnection>>;
}

/** Limit of paused environments and topics. Beyond it the oldest pause ends. */
const maxPaused = 10_000;
const retryAfterPattern = /^\d{1,6}$/;

const noKey = 'no key for Apple is configured: set USHER_APNS_KEY_FILE, USHER_APNS_KEY_ID and USHER_APNS_TEAM_ID';

/** Sends events as push notifications. */
export class ApnsSender {
  readonly #credential: Credential | null;
  readonly #limits: ApnsLimits;
  /**
   * Pauses by environment and topic: a key may be valid for some of them only. The map is bounded, because anybody who registers
   * a webhook chooses topics.
   */
  readonly #paused: BoundedMap<string, { readonly until: number; readonly why: string }>;

  constructor({ settings, sql, sealer, ca, lookup, limits }: SenderOptions) {
    this.#limits = { ...defaultApnsLimits, ...limits };
    this.#paused = new BoundedMap(maxPaused);
    const connect = (url: string) => new ApnsConnection({ url, ca, lookup, limits: this.#limits });
    this.#credential = settings && {
      tokens: new ProviderTokens(settings, sql, sealer),
      connections: { sandbox: connect(settings.sandboxUrl), production: connect(settings.productionUrl) },
    };
  }

  /** Connections, including those that are connecting or draining. */
  get openSessions(): number {
    return this.#sum((connection) => connection.sessions);
  }

  get streamsInFlight(): number {
    return this.#sum((connection) => connection.streams);
  }

  get waiting(): number {
    return this.#sum((connection) => connection.waiting);
  }

  /** Number of paused environments and topics. */
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

  /** Closes all connections; requests in flight fail. */
  close(): void {
    for (const connection of this.#connections()) connection.close();
  }

  async #attempt(delivery: ApnsDelivery): Promise<Outcome> {
    if (this.#credential === null) return unavailableOutcome(noKey);
    const paused = this.#pauseOf(delivery.target);
    // Only this topic is paused, so the destination, which has other topics, is not unavailable.
    if (paused !== null) return { ...unavailableOutcome(paused), unavailable: false };
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
      // The database is unavailable, or we have a bug; no request was made to Apple.
      return unavailableOutcome(`could not get a provider token for Apple (${nameOf(error)})`);
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
    if (reply.kind !== 'answered') return { outcome: unansweredOutcome(reply), credential: 'keep' };
    const ruling = ruleOn({ status: reply.status, body: reply.body.toString('utf8'), registeredAt });
    if (ruling.retire) reply.via.retire(ruling.error ?? '');
    else reply.via.markUseful();
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
    const remainingMs = pause.until - performance.now();
    if (remainingMs > 0) return `${pause.why}; paused for another ${Math.ceil(remainingMs / 1000)} s`;
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

function unavailableOutcome(error: string): Outcome {
  return { verdict: 'failed', unavailable: true, status: null, answer: null, error, retryAfterMs: null };
}

function unansweredOutcome({ error, ...reply }: Exclude<Reply, { kind: 'answered' }>): Outcome {
  if (reply.kind === 'unsent') return unavailableOutcome(error);
  return { ...unavailableOutcome(error), status: reply.status, answer: reply.body && storable(reply.body) };
}

function outcomeOf({ status, body, retryAfter }: Extract<Reply, { kind: 'answered' }>, ruling: Ruling): Outcome {
  const { verdict, unavailable, error } = ruling;
  const requestedMs = retryAfter !== null && retryAfterPattern.test(retryAfter) ? Number(retryAfter) * 1000 : null;
  return {
    verdict,
    unavailable,
    status,
    answer: storable(body),
    error,
    retryAfterMs: verdict === 'failed' ? (requestedMs ?? ruling.retryAfterMs) : null,
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.message;
}
