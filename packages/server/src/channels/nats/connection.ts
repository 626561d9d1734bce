import { randomUUID } from 'node:crypto';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ForbiddenAddress } from '../../platform/outbound/address-guard.ts';
import { describeFailure } from '../attempt.ts';
import { NatsParser, type NatsOperation } from './parser.ts';
import type { NatsServer } from './url.ts';

/** Has `user` and `password`, or `token`. */
type NatsCredentials = Readonly<Record<string, string>>;

interface ConnectionOptions {
  readonly server: NatsServer;
  readonly credentials: NatsCredentials | null;
  /** Resolves and checks the address to connect to. */
  readonly lookup: LookupFunction;
  /** Certificate authorities to trust instead of the default ones, in PEM. */
  readonly ca?: string;
  readonly onEnd: () => void;
}

interface NatsMessage {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why a connection has ended. `refused`: by an error of the server. */
type EndReason =
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'lost'; readonly error: string }
  | { readonly kind: 'forbidden' };

export type Reply =
  | { readonly kind: 'answered'; readonly body: Buffer }
  | { readonly kind: 'no responders' }
  | { readonly kind: 'too large'; readonly maxBytes: number }
  | { readonly kind: 'late'; readonly answerMs: number }
  | EndReason;

/** Limit for resolving the name, connecting, verifying the certificate and signing in, together. */
const connectMs = 5_000;
/** A connection that is idle for this long is closed. */
const idleMs = 30_000;
const pong = 'PONG\r\n';
/** Answers to PING that may wait to be sent: a server that sends PING and does not read must not fill our memory. */
const maxUnsentPongs = Math.floor(65_536 / pong.length);
/** Bytes that the server may send between two answers. INFO, PING and late answers are a fraction of this. */
const maxUnaskedBytes = 1_048_576;

const notReading: EndReason = { kind: 'lost', error: 'the server stopped reading' };

interface PendingMessage {
  readonly message: NatsMessage;
  readonly sentAt: number;
  readonly late: NodeJS.Timeout;
  readonly onReply: (reply: Reply) => void;
  /** The system has accepted the whole message. */
  isSent: boolean;
}

/**
 * One connection to a NATS server, which publishes events and waits for the answers of streams.
 *
 * - `connecting`: until the server's INFO is received and, for tls URLs, TLS is established.
 * - `signing in`: CONNECT and PING are sent, PONG is not received yet. `connectMs` limits both states together.
 * - `open`: publishes.
 * - `ended`: the connection is closed for good; the next event is published on a new one.
 *
 * We do not use the official NATS client, because customers choose the server: that client keeps the socket of a connection
 * attempt that timed out, and buffers everything that a server sends without a limit.
 */
export class NatsConnection {
  readonly #options: ConnectionOptions;
  readonly #parser = new NatsParser();
  readonly #inbox = `_INBOX.${randomUUID().replaceAll('-', '')}`;
  readonly #pending = new Map<string, PendingMessage>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #connecting: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  #state: 'connecting' | 'signing in' | 'open' | 'ended' = 'connecting';
  #endReason: EndReason | null = null;
  #socket: Socket;
  #maxBytes = 0;
  #published = 0;
  #lastReceivedAt = 0;
  #waiting = 0;
  #unsentPongs = 0;
  #unaskedBytes = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { host, port } = options.server;
    this.#socket = connect({ host, port, lookup: options.lookup, noDelay: true });
    this.#connecting = setTimeout(
      () => this.#end({ kind: 'lost', error: `no connection within ${connectMs / 1_000} seconds` }),
      connectMs,
    ).unref();
    this.#idle = setTimeout(() => this.#endIfIdle(), idleMs).unref();
    this.#listen(this.#socket);
  }

  /** Never rejects. `answerMs` counts from when the connection is open. */
  async publish(message: NatsMessage, answerMs: number): Promise<Reply> {
    this.#waiting += 1;
    await this.#opened.promise;
    const reply = this.#endReason ?? (await this.#exchange(message, answerMs));
    this.#waiting -= 1;
    if (this.#endReason === null) this.#idle.refresh();
    return reply;
  }

  /** Closes the connection; pending messages fail. */
  close(): void {
    this.#end({ kind: 'lost', error: 'the connection was closed by Usher' });
  }

  async #exchange(message: NatsMessage, answerMs: number): Promise<Reply> {
    const head = Buffer.from(
      `NATS/1.0\r\n${Object.entries(message.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    );
    const size = head.length + Buffer.byteLength(message.body);
    if (size > this.#maxBytes) return { kind: 'too large', maxBytes: this.#maxBytes };
    return new Promise((resolve) => {
      const inbox = `${this.#inbox}.${(this.#published += 1)}`;
      const late = setTimeout(() => this.#onTimeout(inbox, answerMs), answerMs).unref();
      const pending = { message, sentAt: performance.now(), late, onReply: resolve, isSent: false };
      this.#pending.set(inbox, pending);
      const socket = this.#socket;
      socket.cork();
      socket.write(`HPUB ${message.subject} ${inbox} ${head.length} ${size}\r\n`);
      socket.write(head);
      socket.write(`${message.body}\r\n`, () => (pending.isSent = true));
      process.nextTick(() => socket.uncork());
    });
  }

  #answerPing(): void {
    this.#unsentPongs += 1;
    if (this.#unsentPongs > maxUnsentPongs) return this.#end(notReading);
    this.#socket.write(pong, () => (this.#unsentPongs -= 1));
  }

  /**
   * If the server has sent nothing at all since the message, the connection is considered dead. If the message is still unsent, the
   * server does not read, and the messages after it would wait in memory.
   */
  #onTimeout(inbox: string, answerMs: number): void {
    const { sentAt = 0, isSent = true } = this.#pending.get(inbox) ?? {};
    this.#reply(inbox, { kind: 'late', answerMs });
    if (!isSent) this.#end(notReading);
    else if (this.#lastReceivedAt < sentAt) this.#end({ kind: 'lost', error: 'the server stopped answering' });
  }

  #reply(inbox: string, reply: Reply): void {
    const pending = this.#pending.get(inbox);
    if (pending === undefined) return;
    this.#pending.delete(inbox);
    clearTimeout(pending.late);
    pending.onReply(reply);
  }

  #endIfIdle(): void {
    if (this.#waiting === 0) this.close();
    else this.#idle.refresh();
  }

  #listen(socket: Socket): void {
    socket
      .on('data', (chunk: Buffer) => this.#read(chunk))
      .on('error', (error) => this.#end(endReasonOf(error)))
      .on('close', () => this.#end({ kind: 'lost', error: 'the server closed the connection' }));
  }

  #read(chunk: Buffer): void {
    this.#lastReceivedAt = performance.now();
    this.#unaskedBytes += chunk.length;
    if (this.#unaskedBytes > maxUnaskedBytes)
      return this.#end({ kind: 'lost', error: 'the server sent too much that is no answer' });
    try {
      for (const operation of this.#parser.read(chunk)) {
        if (this.#state === 'ended') return;
        this.#handle(operation);
      }
    } catch (error) {
      this.#end({ kind: 'lost', error: `the server broke the NATS protocol: ${describeFailure(error)}` });
    }
  }

  #handle(operation: NatsOperation): void {
    switch (operation.name) {
      case 'INFO':
        this.#maxBytes = operation.maxBytes;
        if (this.#state === 'connecting') this.#secure(operation);
        return;
      case 'PING':
        this.#answerPing();
        return;
      case 'PONG':
        if (this.#state !== 'signing in') return;
        this.#state = 'open';
        clearTimeout(this.#connecting);
        this.#opened.resolve();
        return;
      case 'MSG':
        if (this.#pending.has(operation.subject)) this.#unaskedBytes = 0;
        this.#reply(
          operation.subject,
          operation.status === 503 ? { kind: 'no responders' } : { kind: 'answered', body: operation.body },
        );
        return;
      case '-ERR':
        this.#fail(operation.error);
        return;
    }
  }

  #secure({ offersTls, requiresTls, hasHeaders }: Extract<NatsOperation, { name: 'INFO' }>): void {
    const { server, ca } = this.#options;
    if (!hasHeaders)
      return this.#end({ kind: 'lost', error: 'the server does not support headers; NATS 2.2 or newer is required' });
    if (!server.isSecure)
      return requiresTls ? this.#end({ kind: 'refused', error: 'Secure Connection - TLS Required' }) : this.#signIn();
    if (!offersTls) return this.#end({ kind: 'lost', error: 'the server does not offer TLS' });
    // Plain text that was received together with INFO may be injected by anybody.
    if (!this.#parser.isEmpty) return this.#end({ kind: 'lost', error: 'the server sent data before TLS' });
    const plain = this.#socket;
    plain.removeAllListeners('data').removeAllListeners('close');
    const { host } = server;
    const name = isIP(host) === 0 ? { servername: host } : {};
    this.#socket = connectTls({ socket: plain, host, ...name, ...(ca === undefined ? {} : { ca }) }, () =>
      this.#signIn(),
    );
    this.#listen(this.#socket);
  }

  #signIn(): void {
    const { credentials, server } = this.#options;
    const options = {
      verbose: false,
      pedantic: false,
      echo: false,
      headers: true,
      no_responders: true,
      protocol: 1,
      name: 'usher',
      lang: 'usher',
      version: '1',
      tls_required: server.isSecure,
      user: credentials?.['user'],
      pass: credentials?.['password'],
      auth_token: credentials?.['token'],
    };
    this.#state = 'signing in';
    this.#socket.write(`CONNECT ${JSON.stringify(options)}\r\nSUB ${this.#inbox}.* 1\r\nPING\r\n`);
  }

  /** Only a permissions violation for a subject leaves the connection open. */
  #fail(error: string): void {
    const [, subject] = /^permissions violation for publish to "([^"]*)"/i.exec(error) ?? [];
    if (subject === undefined) return this.#end({ kind: 'refused', error });
    for (const [inbox, { message }] of this.#pending)
      if (message.subject === subject) this.#reply(inbox, { kind: 'refused', error });
  }

  #end(endReason: EndReason): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#endReason = endReason;
    clearTimeout(this.#connecting);
    clearTimeout(this.#idle);
    this.#socket.destroy();
    this.#opened.resolve();
    for (const inbox of this.#pending.keys()) this.#reply(inbox, endReason);
    this.#options.onEnd();
  }
}

function endReasonOf(error: Error): EndReason {
  return error instanceof ForbiddenAddress ? { kind: 'forbidden' } : { kind: 'lost', error: describeFailure(error) };
}
