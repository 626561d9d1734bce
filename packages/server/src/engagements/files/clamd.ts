import { connect, type LookupFunction, type Socket } from 'node:net';

export type Verdict = { readonly result: 'clean' } | { readonly result: 'infected'; readonly signature: string };

/** The scan gave no verdict, for a reason that is not the file itself. The scan is retried. */
export class ScanFault extends Error {
  override readonly name = 'ScanFault';
}

export interface Clamd {
  readonly host: string;
  readonly port: number;
  readonly timeouts?: ClamdTimeouts;
  /** Resolves the host name. Default: the system's resolver. */
  readonly lookup?: LookupFunction;
}

interface ClamdTimeouts {
  readonly connectMs: number;
  /** For the whole scan. */
  readonly scanMs: number;
}

const defaultTimeouts: ClamdTimeouts = { connectMs: 5_000, scanMs: 120_000 };
const maxAnswerBytes = 4_096;

/**
 * Streams bytes to clamd (INSTREAM: each chunk is preceded by its length, an empty chunk ends the stream) and reads the verdict.
 * A file is clean only if clamd says so after it received all bytes. Everything else is a fault.
 */
export async function scanWithClamd(
  { host, port, timeouts = defaultTimeouts, lookup }: Clamd,
  bytes: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Verdict> {
  signal.throwIfAborted();
  const socket = connect({ host, port, ...(lookup === undefined ? {} : { lookup }) });
  const exchange = new Exchange(socket);
  const failAfter = (ms: number, action: string): NodeJS.Timeout =>
    setTimeout(() => exchange.fail(`clamd did not ${action} within ${ms} ms`), ms);
  const connecting = failAfter(timeouts.connectMs, 'accept the connection');
  const scanning = failAfter(timeouts.scanMs, 'answer');
  const stop = (): void => exchange.fail('the scan was canceled');
  socket.once('connect', () => clearTimeout(connecting));
  signal.addEventListener('abort', stop);
  try {
    await exchange.send(Buffer.from('zINSTREAM\0'));
    for await (const chunk of bytes) {
      if (exchange.isAnswered) break;
      await exchange.send(lengthPrefix(chunk.length), chunk);
    }
    const isComplete = !exchange.isAnswered;
    if (isComplete) await exchange.send(lengthPrefix(0));
    return verdictOf(await exchange.answer, isComplete);
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(connecting);
    clearTimeout(scanning);
    socket.destroy();
  }
}

function lengthPrefix(length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return size;
}

function verdictOf(answer: string, isComplete: boolean): Verdict {
  const signature = /^stream: (.+) FOUND$/.exec(answer)?.[1];
  if (signature !== undefined) return { result: 'infected', signature };
  if (answer === 'stream: OK' && isComplete) return { result: 'clean' };
  if (answer.includes('size limit exceeded'))
    throw new ScanFault('the file is larger than StreamMaxLength in clamd.conf allows; set it to 26M or more');
  throw new ScanFault(`clamd answered ${JSON.stringify(answer)}`);
}

/** One INSTREAM exchange over one connection. clamd may answer, or the connection fail, before all bytes are sent; both end the sending. */
class Exchange {
  readonly #socket: Socket;
  readonly #end = Promise.withResolvers<string>();
  #received = '';
  /** Answered or failed: nothing more needs to be sent. */
  isAnswered = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // The sender gets the failure from `answer`; without this handler, Node would report an unhandled rejection.
    this.#end.promise.catch(() => undefined);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', (error) => this.fail(`the connection to clamd failed: ${error.message}${this.#hint}`));
    socket.on('close', () => this.fail(`clamd closed the connection without an answer${this.#hint}`));
  }

  /** A clamd whose stream limit is exceeded resets the connection, and its explanation may be lost. So the error names the setting. */
  get #hint(): string {
    const isSent = this.#socket.bytesWritten > 'zINSTREAM'.length + 1;
    return isSent ? '; if this repeats, set StreamMaxLength in clamd.conf to 26M or more' : '';
  }

  get answer(): Promise<string> {
    return this.#end.promise;
  }

  fail(reason: string): void {
    this.isAnswered = true;
    this.#end.reject(new ScanFault(reason));
    this.#socket.destroy();
  }

  /** Resolves when the socket has accepted the bytes, or when the exchange has ended. */
  async send(...parts: Buffer[]): Promise<void> {
    if (this.isAnswered) return;
    const taken = new Promise<void>((resolve) => {
      for (const part of parts.slice(0, -1)) this.#socket.write(part);
      this.#socket.write(parts.at(-1) ?? '', () => resolve());
    });
    await Promise.race([taken, this.#end.promise]);
  }

  #receive(text: string): void {
    // What follows the answer is ignored, however much it is.
    if (this.isAnswered) return;
    this.#received += text;
    const end = this.#received.indexOf('\0');
    if (end >= 0) {
      this.isAnswered = true;
      this.#end.resolve(this.#received.slice(0, end));
    } else if (this.#received.length > maxAnswerBytes)
      this.fail(`clamd sent more than ${maxAnswerBytes} bytes without an answer`);
  }
}
