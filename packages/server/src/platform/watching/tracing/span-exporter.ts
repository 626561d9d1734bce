import type { LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import type { TracingSettings } from '../../../config-tracing.ts';
import type { Log } from '../../log.ts';
import { outcomeOfAnswer, type ExportOutcome } from './export-outcome.ts';

export interface ExporterOptions {
  readonly target: Pick<TracingSettings, 'endpoint' | 'headers'>;
  readonly lookup: LookupFunction;
  readonly log: Log;
  /** What is before and after the spans in the body of each request. */
  readonly frame: { readonly head: string; readonly tail: string };
  readonly limits?: Partial<ExporterLimits>;
}

interface ExporterLimits {
  /** A span waits at most this long for its request, unless requests fail. */
  readonly exportEveryMs: number;
  /** The spans of one request, in characters. Collectors accept several MiB. */
  readonly batchLength: number;
  /** All spans in memory, in characters; the next ones are dropped. */
  readonly bufferLength: number;
  /** From connecting to the last byte of the answer. */
  readonly requestMs: number;
  /** The pause after a failed request; it doubles with each one. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** For the last requests, when the process stops. */
  readonly closeMs: number;
}

const defaultLimits: ExporterLimits = {
  exportEveryMs: 2_000,
  batchLength: 512 * 1_024,
  bufferLength: 8 * 1_024 * 1_024,
  requestMs: 10_000,
  minPauseMs: 1_000,
  maxPauseMs: 60_000,
  closeMs: 2_000,
};

/** Bytes of an answer that are read. A normal one has two. */
const maxAnswerBytes = 16_384;

/** Totals since the start. */
export interface ExportNumbers {
  readonly exported: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Spans in memory. */
  readonly waiting: number;
}

/** `buffer_full`: requests fail or are too slow. `rejected`: by the collector. `shutdown`: the last requests failed. */
export type DropReason = 'buffer_full' | 'rejected' | 'shutdown';

/**
 * Sends spans to a collector, in batches and one request at a time. Requests and deliveries never wait for it: spans that do not fit into
 * the buffer are dropped and counted.
 *
 *   idle     no span waits
 *   waiting  `#timer` runs: until the next batch, or for the pause after a failed request
 *   sending  `#sending` is set; spans that are added meanwhile wait for the next batch
 *   closed   spans are dropped
 */
export class SpanExporter {
  readonly #options: ExporterOptions;
  readonly #limits: ExporterLimits;
  readonly #agent: Agent;
  /** The oldest first, without those of the request that is under way. */
  #spans: string[] = [];
  /** Of all spans in memory, also of those that are being sent. */
  #length = 0;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  /** Ends the request that is under way. */
  #abort: AbortController | null = null;
  /** Consecutive failed requests. The first one is logged, and so is the success after them. */
  #failures = 0;
  #isClosing = false;
  #exported = 0;
  readonly #dropped: Record<DropReason, number> = { buffer_full: 0, rejected: 0, shutdown: 0 };

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    const { lookup } = options;
    const { requestMs } = this.#limits;
    this.#agent = new Agent({ connect: { lookup, timeout: requestMs, allowH2: false }, connections: 1 });
  }

  get numbers(): ExportNumbers {
    return { exported: this.#exported, dropped: { ...this.#dropped }, waiting: this.#spans.length };
  }

  /** Adds a span in the JSON form of OTLP. */
  add(span: string): void {
    if (this.#isClosing) return this.#drop(1, 'shutdown');
    if (this.#length + span.length > this.#limits.bufferLength) return this.#drop(1, 'buffer_full');
    this.#spans.push(span);
    this.#length += span.length;
    if (this.#length >= this.#limits.batchLength && this.#failures === 0) this.#start();
    // What is added while a request is under way waits for its end.
    else if (this.#sending === null) this.#schedule(this.#limits.exportEveryMs);
  }

  /** Sends what is left, within `closeMs`. Drops what cannot be sent. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopTimer();
    let isOver = false;
    const limit = setTimeout(() => {
      isOver = true;
      this.#abort?.abort();
    }, this.#limits.closeMs);
    await this.#sending;
    if (!isOver) await this.#drain(() => this.#spans.length > 0 && !isOver);
    clearTimeout(limit);
    const left = this.#spans.length;
    if (left > 0) this.#options.log.warn({ spans: left }, 'the last spans could not be exported and are lost');
    this.#drop(left, 'shutdown');
    this.#spans = [];
    this.#length = 0;
    await this.#agent.destroy();
  }

  #schedule(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#start();
    }, delayMs).unref();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #start(): void {
    if (this.#sending !== null || this.#isClosing) return;
    this.#stopTimer();
    // Less than a batch waits for the timer. Otherwise many small requests would follow one another.
    this.#sending = this.#drain(() => this.#length >= this.#limits.batchLength).finally(() => {
      this.#sending = null;
      if (this.#spans.length > 0 && !this.#isClosing) this.#schedule(this.#limits.exportEveryMs);
    });
  }

  /** Sends a batch, and further ones while `isMore`. Stops at the first request that may succeed later. Never rejects. */
  async #drain(isMore: () => boolean): Promise<void> {
    do {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      const outcome = await this.#send(batch);
      this.#report(outcome);
      if (outcome.kind === 'unavailable') {
        this.#spans.unshift(...batch);
        if (!this.#isClosing) this.#schedule(this.#pauseMs(outcome.retryAfterMs));
        return;
      }
      for (const span of batch) this.#length -= span.length;
      const rejected = outcome.kind === 'accepted' ? Math.min(outcome.rejected, batch.length) : batch.length;
      this.#exported += batch.length - rejected;
      this.#drop(rejected, 'rejected');
    } while (isMore());
  }

  #takeBatch(): string[] {
    let length = 0;
    let count = 0;
    for (const span of this.#spans) {
      length += span.length;
      if (count > 0 && length > this.#limits.batchLength) break;
      count += 1;
    }
    return this.#spans.splice(0, count);
  }

  async #send(batch: readonly string[]): Promise<ExportOutcome> {
    const { target, frame } = this.#options;
    const { requestMs } = this.#limits;
    const abort = new AbortController();
    this.#abort = abort;
    const timer = setTimeout(() => abort.abort(), requestMs).unref();
    try {
      const answer = await request(target.endpoint, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { ...target.headers, 'content-type': 'application/json' },
        body: `${frame.head}${batch.join(',')}${frame.tail}`,
        signal: abort.signal,
        headersTimeout: requestMs,
        bodyTimeout: requestMs,
      });
      const retryAfter = answer.headers['retry-after'];
      return outcomeOfAnswer(answer.statusCode, {
        body: await readStart(answer.body),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      });
    } catch (error) {
      const why = abort.signal.aborted ? 'no answer in time' : error instanceof Error ? error.message : String(error);
      return { kind: 'unavailable', why, retryAfterMs: null };
    } finally {
      clearTimeout(timer);
      this.#abort = null;
    }
  }

  /** Logs the beginning and the end of an outage, not each request. */
  #report(outcome: ExportOutcome): void {
    const { log, target } = this.#options;
    const why = outcome.kind === 'accepted' && outcome.rejected === 0 ? null : outcome.why;
    if (why !== null) {
      const context = { endpoint: target.endpoint, reason: why };
      if (this.#failures === 0) log.warn(context, 'could not export spans; requests and webhooks are not affected');
      this.#failures += 1;
      return;
    }
    if (this.#failures > 0) log.info({ ...this.numbers }, 'spans are exported again');
    this.#failures = 0;
  }

  /** Varies by half, so that the processes of a cluster do not all come back at once. */
  #pauseMs(retryAfterMs: number | null): number {
    const { minPauseMs, maxPauseMs } = this.#limits;
    const pauseMs = minPauseMs * 2 ** Math.min(this.#failures - 1, 16) * (0.75 + Math.random() / 2);
    return Math.min(Math.max(pauseMs, retryAfterMs ?? 0), maxPauseMs);
  }

  #drop(count: number, reason: DropReason): void {
    this.#dropped[reason] += count;
  }
}

async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the body and its connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
