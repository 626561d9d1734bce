import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { LookupFunction } from 'node:net';
import type { ApnsLimits } from './limits.ts';

export interface ApnsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * What came of a request. `unsent`: Apple has not looked at it, so that it may be sent again on another connection.
 * `failed`: nobody knows whether it was looked at; `status` is that of an answer that did not come whole.
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
  /** Whom to trust instead of the usual authorities. */
  readonly ca: string | undefined;
  /** How Apple's name is resolved; `undefined`: by the system. */
  readonly lookup: LookupFunction | undefined;
  readonly limits: ApnsLimits;
  /** There may be room, or no more of it. */
  readonly onChange: () => void;
}

/** In the order of its life; any state may be skipped. */
type State = 'connecting' | 'open' | 'draining' | 'ended';

/**
 * One HTTP/2 connection.
 *
 * - `connecting`: until Apple's first frame, its settings, has come; for `connectMs` at most.
 * - `open`: takes requests. Until the first is answered there is one at a time, as Apple allows no more before it has seen
 *   a valid token; after that, as many as Apple's settings say now.
 * - `draining`: GOAWAY has come, or we have retired it. What was sent is still answered, nothing more is sent.
 * - `ended`: there is no connection.
 */
export class ApnsSession {
  readonly #session: ClientHttp2Session;
  readonly #limits: ApnsLimits;
  readonly #onChange: () => void;
  readonly #connecting: NodeJS.Timeout;
  #beat: NodeJS.Timeout | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #state: State = 'connecting';
  #allowed = 0;
  #streams = 0;
  #hasAnswered = false;
  #isProved = false;
  #isQuiet = true;
  #lastLooked = Infinity;
  #why: string | null = null;

  constructor({ url, ca, lookup, limits, onChange }: SessionOptions) {
    this.#limits = limits;
    this.#onChange = onChange;
    this.#session = connect(url, {
      ...(ca === undefined ? {} : { ca }),
      ...(lookup === undefined ? {} : { lookup }),
      settings: { enablePush: false },
    });
    this.#connecting = setTimeout(() => this.end('Apple could not be connected to in time'), limits.connectMs).unref();
    this.#session
      .on('remoteSettings', ({ maxConcurrentStreams = Infinity }) => this.#allow(maxConcurrentStreams))
      .on('goaway', (code, lastStreamId, data) => this.#leave(code, lastStreamId, data))
      .on('error', (error) => this.end(`The connection to Apple failed (${codeOf(error)})`))
      .on('close', () => this.#close());
  }

  get state(): State {
    return this.#state;
  }

  get streams(): number {
    return this.#streams;
  }

  /** Why it is of no more use. */
  get why(): string {
    return this.#why ?? 'Apple has closed the connection';
  }

  /** Whether it has been of use. */
  get isProved(): boolean {
    return this.#isProved;
  }

  get hasRoom(): boolean {
    const allowed = Math.min(this.#allowed, this.#hasAnswered ? this.#limits.streams : 1);
    return this.#state === 'open' && this.#streams < allowed;
  }

  /** Never rejects. Ask whether it `hasRoom` before. */
  async send(request: ApnsRequest): Promise<Reply> {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(request.headers);
    } catch (error) {
      return { kind: 'unsent', error: `The connection to Apple takes no more (${codeOf(error)})` };
    }
    this.#streams += 1;
    stream.once('close', () => {
      this.#streams -= 1;
      this.#endIfDrained();
      this.#onChange();
    });
    return this.#answerOf(stream, request.body);
  }

  /** Nothing more is sent on it; what is under way is still answered. */
  retire(why: string): void {
    if (this.#state === 'draining' || this.#state === 'ended') return;
    this.#why ??= why;
    this.#state = 'draining';
    this.#endIfDrained();
    this.#onChange();
  }

  /** What it answered was to the point. */
  prove(): void {
    this.#isProved = true;
  }

  /** Cuts it off, with all that is under way. */
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
      this.#beat = setInterval(() => this.#listen(), this.#limits.pingEveryMs).unref();
    }
    this.#onChange();
  }

  /** Node itself closes or destroys the session after this, by the code. */
  #leave(code: number, lastStreamId: number, data: Uint8Array | undefined): void {
    this.#lastLooked = Math.min(this.#lastLooked, lastStreamId);
    const said = Buffer.from(data ?? []).toString('utf8');
    const [, reason] = /"reason"\s*:\s*"(\w{1,64})"/.exec(said) ?? [];
    this.#why ??= `Apple has closed the connection (GOAWAY ${reason ?? nameOf(code)})`;
    if (this.#state !== 'ended') this.#state = 'draining';
    this.#onChange();
  }

  #close(): void {
    clearTimeout(this.#connecting);
    clearInterval(this.#beat);
    clearTimeout(this.#pinging);
    this.#state = 'ended';
    this.#onChange();
  }

  #endIfDrained(): void {
    if (this.#state === 'draining' && this.#streams === 0) this.end(this.why);
  }

  #listen(): void {
    if (this.#isQuiet) this.#ping();
    this.#isQuiet = true;
  }

  /** Whoever does not answer a PING answers no request either. */
  #ping(): void {
    if (this.#pinging !== undefined || this.#session.destroyed) return;
    this.#pinging = setTimeout(() => this.end('Apple did not answer a PING'), this.#limits.pingMs).unref();
    this.#session.ping(() => {
      clearTimeout(this.#pinging);
      this.#pinging = undefined;
    });
  }

  async #answerOf(stream: ClientHttp2Stream, body: string): Promise<Reply> {
    const answer = Promise.withResolvers<Reply>();
    const { answerMs, answerBytes } = this.#limits;
    const chunks: Buffer[] = [];
    let size = 0;
    let status: number | null = null;
    let retryAfter: string | null = null;
    const settle = (error: string): void => {
      clearTimeout(late);
      const read = Buffer.concat(chunks);
      // Once Apple has taken it, an answer that is cut short must not make us send it again.
      if (status !== null && (stream.readableEnded || isTaken(status))) {
        this.#hasAnswered = true;
        answer.resolve({ kind: 'answered', status, body: read, retryAfter, via: this });
      } else if (status === null && this.#wasNotLookedAt(stream)) answer.resolve({ kind: 'unsent', error });
      else answer.resolve({ kind: 'failed', error, status, body: status === null ? null : read });
    };
    const giveUp = (error: string): void => {
      settle(error);
      stream.close(constants.NGHTTP2_CANCEL);
    };
    const late = setTimeout(() => {
      giveUp('Apple did not answer in time');
      this.#ping();
    }, answerMs).unref();
    stream
      .on('response', ({ ':status': code, 'retry-after': after }) => {
        status = code ?? null;
        retryAfter = after ?? null;
        this.#isQuiet = false;
      })
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > answerBytes) giveUp('The answer is longer than any of Apple’s');
        else chunks.push(chunk);
      })
      .on('error', () => undefined)
      .on('close', () => settle(this.#endOf(stream)));
    stream.end(body);
    return answer.promise;
  }

  /** By the protocol: what was refused as a whole, or came after the last that a GOAWAY names, or never left. */
  #wasNotLookedAt(stream: ClientHttp2Stream): boolean {
    if (stream.id === undefined || stream.id > this.#lastLooked) return true;
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  }

  #endOf({ rstCode }: ClientHttp2Stream): string {
    if (this.#session.destroyed || this.#state !== 'open') return this.why;
    return `Apple broke off the request (${nameOf(rstCode ?? 0)})`;
  }
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}

/** Of an HTTP/2 error, as the protocol calls it. */
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
