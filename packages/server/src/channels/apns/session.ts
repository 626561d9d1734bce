import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { LookupFunction } from 'node:net';
import type { ApnsLimits } from './limits.ts';

export interface ApnsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The result of a request. `unsent`: Apple has not processed it, so it may be sent again on another connection. `failed`: it is
 * not known whether Apple processed it; `status` is from an incomplete answer.
 */
export type Reply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: Buffer;
      readonly retryAfter: string | null;
      readonly via: ApnsSession;
    }
  | { readonly kind: 'unsent'; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string; readonly status: number | null; readonly body: Buffer | null };

interface SessionOptions {
  readonly url: string;
  /** Certificate authorities to trust instead of the default ones. */
  readonly ca: string | undefined;
  /** Resolves Apple's host name; `undefined`: the system's resolver. */
  readonly lookup: LookupFunction | undefined;
  readonly limits: ApnsLimits;
  /** Called when `hasRoom` or `state` may have changed. */
  readonly onChange: () => void;
}

/** In this order; any state may be skipped. */
type State = 'connecting' | 'open' | 'draining' | 'ended';

/**
 * One HTTP/2 connection.
 *
 * - `connecting`: until Apple's first frame, its settings, is received; at most `connectMs`.
 * - `open`: accepts requests. Until the first is answered, one at a time, because Apple allows no more before it has seen a valid
 *   token; after that, as many as Apple's settings allow.
 * - `draining`: GOAWAY was received, or we have retired the session. Requests in flight are still answered, no new ones are sent.
 * - `ended`: the connection is closed.
 */
export class ApnsSession {
  readonly #session: ClientHttp2Session;
  readonly #limits: ApnsLimits;
  readonly #onChange: () => void;
  readonly #connecting: NodeJS.Timeout;
  #pingTimer: NodeJS.Timeout | undefined;
  #pingTimeout: NodeJS.Timeout | undefined;
  #state: State = 'connecting';
  #allowed = 0;
  #streams = 0;
  #hasAnswered = false;
  #isUseful = false;
  #isQuiet = true;
  #lastProcessedStream = Infinity;
  #why: string | null = null;

  constructor({ url, ca, lookup, limits, onChange }: SessionOptions) {
    this.#limits = limits;
    this.#onChange = onChange;
    this.#session = connect(url, {
      ...(ca === undefined ? {} : { ca }),
      ...(lookup === undefined ? {} : { lookup }),
      settings: { enablePush: false },
    });
    this.#connecting = setTimeout(() => this.end('could not connect to Apple in time'), limits.connectMs).unref();
    this.#session
      .on('remoteSettings', ({ maxConcurrentStreams = Infinity }) => this.#allow(maxConcurrentStreams))
      .on('goaway', (code, lastStreamId, data) => this.#onGoaway(code, lastStreamId, data))
      .on('error', (error) => this.end(`the connection to Apple failed (${codeOf(error)})`))
      .on('close', () => this.#close());
  }

  get state(): State {
    return this.#state;
  }

  get streams(): number {
    return this.#streams;
  }

  /** Why the session accepts no more requests. */
  get why(): string {
    return this.#why ?? 'Apple closed the connection';
  }

  /** Whether the session has had a useful answer. */
  get isUseful(): boolean {
    return this.#isUseful;
  }

  get hasRoom(): boolean {
    const allowed = Math.min(this.#allowed, this.#hasAnswered ? this.#limits.streams : 1);
    return this.#state === 'open' && this.#streams < allowed;
  }

  /** Never rejects. Call this only if `hasRoom`. */
  async send(request: ApnsRequest): Promise<Reply> {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(request.headers);
    } catch (error) {
      return { kind: 'unsent', error: `the connection to Apple accepts no more requests (${codeOf(error)})` };
    }
    this.#streams += 1;
    stream.once('close', () => {
      this.#streams -= 1;
      this.#endIfDrained();
      this.#onChange();
    });
    return this.#answerOf(stream, request.body);
  }

  /** Sends nothing more on this session; requests in flight are still answered. */
  retire(why: string): void {
    if (this.#state === 'draining' || this.#state === 'ended') return;
    this.#why ??= why;
    this.#state = 'draining';
    this.#endIfDrained();
    this.#onChange();
  }

  /** Records that the session has had a useful answer. */
  markUseful(): void {
    this.#isUseful = true;
  }

  /** Closes the connection; requests in flight fail. */
  end(why: string): void {
    if (this.#state === 'ended') return;
    this.#why ??= why;
    this.#state = 'draining';
    this.#session.destroy();
    this.#onChange();
  }

  #allow(maxConcurrentStreams: number): void {
    this.#allowed = maxConcurrentStreams;
    if (this.#state === 'connecting') {
      this.#state = 'open';
      clearTimeout(this.#connecting);
      this.#pingTimer = setInterval(() => this.#pingIfQuiet(), this.#limits.pingEveryMs).unref();
    }
    this.#onChange();
  }

  /** Afterwards Node closes or destroys the session, depending on the code. */
  #onGoaway(code: number, lastStreamId: number, data: Uint8Array | undefined): void {
    this.#lastProcessedStream = Math.min(this.#lastProcessedStream, lastStreamId);
    const text = Buffer.from(data ?? []).toString('utf8');
    const [, reason] = /"reason"\s*:\s*"(\w{1,64})"/.exec(text) ?? [];
    this.#why ??= `Apple closed the connection (GOAWAY ${reason ?? nameOf(code)})`;
    if (this.#state !== 'ended') this.#state = 'draining';
    this.#onChange();
  }

  #close(): void {
    clearTimeout(this.#connecting);
    clearInterval(this.#pingTimer);
    clearTimeout(this.#pingTimeout);
    this.#state = 'ended';
    this.#onChange();
  }

  #endIfDrained(): void {
    if (this.#state === 'draining' && this.#streams === 0) this.end(this.why);
  }

  #pingIfQuiet(): void {
    if (this.#isQuiet) this.#ping();
    this.#isQuiet = true;
  }

  /** A server that does not answer a PING answers no request either. */
  #ping(): void {
    if (this.#pingTimeout !== undefined || this.#session.destroyed) return;
    this.#pingTimeout = setTimeout(() => this.end('Apple did not answer a PING'), this.#limits.pingMs).unref();
    this.#session.ping(() => {
      clearTimeout(this.#pingTimeout);
      this.#pingTimeout = undefined;
    });
  }

  async #answerOf(stream: ClientHttp2Stream, body: string): Promise<Reply> {
    const answer = Promise.withResolvers<Reply>();
    const { answerMs, answerBytes, informationalHeads } = this.#limits;
    const chunks: Buffer[] = [];
    let size = 0;
    let heads = 0;
    let status: number | null = null;
    let retryAfter: string | null = null;
    const end = (error: string): void => {
      clearTimeout(late);
      const read = Buffer.concat(chunks);
      // Once Apple has accepted the notification, an incomplete answer must not make us send it again.
      if (status !== null && (stream.readableEnded || isSuccess(status))) {
        this.#hasAnswered = true;
        answer.resolve({ kind: 'answered', status, body: read, retryAfter, via: this });
      } else if (status === null && this.#wasNotProcessed(stream)) answer.resolve({ kind: 'unsent', error });
      else answer.resolve({ kind: 'failed', error, status, body: status === null ? null : read });
    };
    const giveUp = (error: string): void => {
      end(error);
      stream.close(constants.NGHTTP2_CANCEL);
    };
    const late = setTimeout(() => {
      giveUp('Apple did not answer in time');
      this.#ping();
    }, answerMs).unref();
    stream
      .on('headers', () => {
        heads += 1;
        if (heads > informationalHeads) giveUp('Apple sent informational answers without end');
      })
      .on('response', ({ ':status': code, 'retry-after': after }) => {
        status = code ?? null;
        retryAfter = after ?? null;
        this.#isQuiet = false;
      })
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > answerBytes) giveUp('the answer is too long');
        else chunks.push(chunk);
      })
      .on('error', () => undefined)
      .on('close', () => end(this.#endOf(stream)));
    stream.end(body);
    return answer.promise;
  }

  /** By HTTP/2: the stream was refused, or is later than the last stream of a GOAWAY, or was never sent. */
  #wasNotProcessed(stream: ClientHttp2Stream): boolean {
    if (stream.id === undefined || stream.id > this.#lastProcessedStream) return true;
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  }

  #endOf({ rstCode }: ClientHttp2Stream): string {
    if (this.#session.destroyed || this.#state !== 'open') return this.why;
    return `Apple reset the request (${nameOf(rstCode ?? 0)})`;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}

/** The name of an HTTP/2 error code. */
function nameOf(code: number): string {
  const found = Object.entries(constants).find(([name, value]) => value === code && errorNames.has(name));
  return found === undefined ? String(code) : found[0].slice('NGHTTP2_'.length);
}

const errorNames = new Set(
  [
    'NO_ERROR',
    'PROTOCOL_ERROR',
    'INTERNAL_ERROR',
    'FLOW_CONTROL_ERROR',
    'SETTINGS_TIMEOUT',
    'STREAM_CLOSED',
    'FRAME_SIZE_ERROR',
    'REFUSED_STREAM',
    'CANCEL',
    'COMPRESSION_ERROR',
    'CONNECT_ERROR',
    'ENHANCE_YOUR_CALM',
    'INADEQUATE_SECURITY',
    'HTTP_1_1_REQUIRED',
  ].map((name) => `NGHTTP2_${name}`),
);
