import { randomUUID } from 'node:crypto';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ForbiddenAddress } from '../../../platform/address-guard.ts';
import { describeFailure } from '../attempt.ts';
import { NatsParser, type NatsOperation } from './parser.ts';
import type { NatsServer } from './url.ts';

/** With `user` and `password`, or with `token`. */
export type NatsCredentials = Readonly<Record<string, string>>;

interface ConnectionOptions {
  readonly server: NatsServer;
  readonly credentials: NatsCredentials | null;
  /** What it answers is connected to. */
  readonly lookup: LookupFunction;
  /** Whom to trust, in PEM, instead of the usual authorities. */
  readonly ca?: string;
  readonly onEnd: () => void;
}

export interface NatsMessage {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why a connection is of no more use. `refused`: the server said so, in these words. */
type Ending =
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'lost'; readonly error: string }
  | { readonly kind: 'forbidden' };

export type Reply =
  | { readonly kind: 'answered'; readonly body: Buffer }
  | { readonly kind: 'no responders' }
  | { readonly kind: 'too large'; readonly mostBytes: number }
  | { readonly kind: 'late'; readonly answerMs: number }
  | Ending;

/** Until the server has accepted the credentials, the name resolved and the certificate verified before. */
const connectMs = 5_000;
/** A connection with nothing to do is closed. */
const idleMs = 30_000;

interface Pending {
  readonly message: NatsMessage;
  readonly sentAt: number;
  readonly late: NodeJS.Timeout;
  readonly settle: (reply: Reply) => void;
}

/**
 * One connection to a NATS server, which publishes events and waits for the answers of streams.
 *
 * - `greeted`: until the server's INFO has come, and after it TLS where the URL says so.
 * - `signing in`: CONNECT and PING are sent, PONG has not come. Up to here `connectMs` at most.
 * - `open`: publishes.
 * - `ended`: there is no connection. It is never made again: whoever publishes next makes a new one.
 *
 * We do not use the client that NATS offers. Customers choose the server: that client keeps the socket of a connection attempt
 * that timed out, and holds whatever a server sends in memory, however much it is.
 */
export class NatsConnection {
  readonly #options: ConnectionOptions;
  readonly #parser = new NatsParser();
  readonly #inbox = `_INBOX.${randomUUID().replaceAll('-', '')}`;
  readonly #pending = new Map<string, Pending>();
  readonly #opened = Promise.withResolvers<Ending | null>();
  readonly #connecting: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  #state: 'greeted' | 'signing in' | 'open' | 'ended' = 'greeted';
  #socket: Socket;
  #mostBytes = 0;
  #published = 0;
  #heardAt = 0;
  #waiting = 0;

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

  /** Never rejects. The answer is waited for from when the connection is open. */
  async publish(message: NatsMessage, answerMs: number): Promise<Reply> {
    this.#waiting += 1;
    const ending = await this.#opened.promise;
    const reply = ending ?? (await this.#exchange(message, answerMs));
    this.#waiting -= 1;
    this.#idle.refresh();
    return reply;
  }

  /** Cuts off what is under way. */
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
    if (size > this.#mostBytes) return { kind: 'too large', mostBytes: this.#mostBytes };
    return new Promise((resolve) => {
      const inbox = `${this.#inbox}.${(this.#published += 1)}`;
      const late = setTimeout(() => this.#giveUp(inbox, answerMs), answerMs).unref();
      this.#pending.set(inbox, { message, sentAt: performance.now(), late, settle: resolve });
      const socket = this.#socket;
      socket.cork();
      socket.write(`HPUB ${message.subject} ${inbox} ${head.length} ${size}\r\n`);
      socket.write(head);
      socket.write(`${message.body}\r\n`);
      process.nextTick(() => socket.uncork());
    });
  }

  /** A server that has said nothing at all since is not there any more: what follows needs another connection. */
  #giveUp(inbox: string, answerMs: number): void {
    const sentAt = this.#pending.get(inbox)?.sentAt ?? 0;
    this.#settle(inbox, { kind: 'late', answerMs });
    if (this.#heardAt < sentAt) this.#end({ kind: 'lost', error: 'the server has fallen silent' });
  }

  #settle(inbox: string, reply: Reply): void {
    const pending = this.#pending.get(inbox);
    if (pending === undefined) return;
    this.#pending.delete(inbox);
    clearTimeout(pending.late);
    pending.settle(reply);
  }

  #endIfIdle(): void {
    if (this.#waiting === 0) this.close();
    else this.#idle.refresh();
  }

  #listen(socket: Socket): void {
    socket
      .on('data', (chunk: Buffer) => this.#read(chunk))
      .on('error', (error) => this.#end(endingOf(error)))
      .on('close', () => this.#end({ kind: 'lost', error: 'the server closed the connection' }));
  }

  #read(chunk: Buffer): void {
    this.#heardAt = performance.now();
    try {
      for (const operation of this.#parser.read(chunk)) {
        if (this.#state === 'ended') return;
        this.#handle(operation);
      }
    } catch (error) {
      this.#end({ kind: 'lost', error: `the server does not speak NATS: ${describeFailure(error)}` });
    }
  }

  #handle(operation: NatsOperation): void {
    switch (operation.name) {
      case 'INFO':
        this.#mostBytes = operation.mostBytes;
        if (this.#state === 'greeted') this.#secure(operation);
        return;
      case 'PING':
        this.#socket.write('PONG\r\n');
        return;
      case 'PONG':
        if (this.#state !== 'signing in') return;
        this.#state = 'open';
        clearTimeout(this.#connecting);
        this.#opened.resolve(null);
        return;
      case 'MSG':
        this.#settle(
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
    if (!hasHeaders) return this.#end({ kind: 'lost', error: 'the server has no headers: it is older than NATS 2.2' });
    if (!server.isSecure)
      return requiresTls ? this.#end({ kind: 'refused', error: 'Secure Connection - TLS Required' }) : this.#signIn();
    if (!offersTls) return this.#end({ kind: 'lost', error: 'the server offers no TLS' });
    // What came in plain text together with INFO may be anybody's.
    if (!this.#parser.isEmpty) return this.#end({ kind: 'lost', error: 'the server did not wait for TLS' });
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

  /** Only a publication that is not permitted leaves the connection as it is. */
  #fail(error: string): void {
    const [, subject] = /^permissions violation for publish to "([^"]*)"/i.exec(error) ?? [];
    if (subject === undefined) return this.#end({ kind: 'refused', error });
    for (const [inbox, { message }] of this.#pending)
      if (message.subject === subject) this.#settle(inbox, { kind: 'refused', error });
  }

  #end(ending: Ending): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    clearTimeout(this.#connecting);
    clearTimeout(this.#idle);
    this.#socket.destroy();
    this.#opened.resolve(ending);
    for (const inbox of [...this.#pending.keys()]) this.#settle(inbox, ending);
    this.#options.onEnd();
  }
}

function endingOf(error: Error): Ending {
  return error instanceof ForbiddenAddress ? { kind: 'forbidden' } : { kind: 'lost', error: describeFailure(error) };
}
