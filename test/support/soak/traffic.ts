import { setTimeout as pause } from 'node:timers/promises';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { call, type Answer } from '../server.ts';

/** What is measured: requests of clients, an event until a receiver has it, and an event until a follower of the feed has it. */
export const latencies = ['request', 'webhook', 'feed'] as const;
export type Latency = (typeof latencies)[number];

/** The run is compared by quarters: in the first one caches fill, and the last must not be worse than the second. */
export const quarters = 4;

type Options = Parameters<typeof call>[2];

/** The share of values and how it is called in the report. */
export interface Quantiles {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const mostListed = 50;
/** What a service on a busy machine answers, with `Retry-After`. */
const busyCodes: ReadonlySet<string> = new Set(['too_busy', 'database_unavailable']);
const mostTries = 20;

/** Sends the requests of all clients, and counts and times them. What is not expected is listed. */
export class Traffic {
  /** How often each thing happened. */
  readonly counts = new Map<string, number>();
  /** Answers that nothing explains. */
  readonly unexpected: string[] = [];
  #began = performance.now();
  readonly #lengthMs: number;
  readonly #histograms: readonly Readonly<Record<Latency, RecordableHistogram>>[];

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#histograms = Array.from({ length: quarters }, () => ({
      request: createHistogram(),
      webhook: createHistogram(),
      feed: createHistogram(),
    }));
  }

  /** The first quarter begins. */
  begin(): void {
    this.#began = performance.now();
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  record(what: Latency, ms: number): void {
    const quarter = Math.min(quarters - 1, Math.floor((quarters * (performance.now() - this.#began)) / this.#lengthMs));
    this.#histograms[quarter]?.[what].record(Math.max(1, Math.round(ms * 1_000)));
  }

  quantiles(quarter: number, what: Latency): Quantiles {
    const histogram = this.#histograms[quarter]?.[what] ?? createHistogram();
    if (histogram.count === 0) return { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };
    const ms = (us: number): number => Math.round(us / 100) / 10;
    return {
      count: histogram.count,
      p50Ms: ms(histogram.percentile(50)),
      p99Ms: ms(histogram.percentile(99)),
      maxMs: ms(histogram.max),
    };
  }

  reportUnexpected(what: string): void {
    this.count('unexpected');
    if (this.unexpected.length < mostListed) this.unexpected.push(what);
  }

  /**
   * Sends a request. `refusals` are the codes of refusals that may happen by chance, for example because the other side has just left:
   * then the answer is `null`. Like other clients, it repeats what a busy service refuses.
   */
  async call(
    server: { readonly url: string },
    request: string,
    options: Options,
    refusals: readonly string[] = [],
  ): Promise<Answer | null> {
    for (let tries = 1; ; tries += 1) {
      const began = performance.now();
      const answer = await this.#send(server, request, options);
      this.record('request', performance.now() - began);
      this.count('request');
      if (answer.status < 300) return answer;
      const code: string = answer.body.error ?? '';
      this.count(`refused ${code}`);
      if (busyCodes.has(code) && tries < mostTries) {
        await pause(1_000 * Number(answer.headers.get('retry-after') ?? 1));
        continue;
      }
      if (!refusals.includes(code)) {
        const route = request.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…');
        this.reportUnexpected(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      return null;
    }
  }

  /** A connection may be closed while a request is sent over it, if the machine stops for a moment: then the request is sent again. */
  async #send(server: { readonly url: string }, request: string, options: Options): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call(server, request, options);
      } catch (error) {
        if (!(error instanceof TypeError) || tries === mostTries) throw error;
        this.count('connection lost');
      }
    }
  }

  /** For helpers that throw the answer: whether the service was busy or the connection was lost, so that the caller tries again later. */
  isBusy(error: unknown): boolean {
    const isBusy =
      error instanceof TypeError || [...busyCodes].some((code) => String(error).includes(`"error":"${code}"`));
    if (isBusy) this.count('refused, tried again later');
    return isBusy;
  }
}
